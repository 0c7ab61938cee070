"""The site: the page at its address, the files that it needs, and the documentation."""

from typing import Any

import gradio as gr
from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.datastructures import UploadFile
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware

from . import compare, understand
from .address import FILES, Address, Note, read_address
from .docs import file_of, html_of
from .files import MOST_FILES, TOGETHER, keep, paths_of
from .html import STATIC, render, sentence
from .metric import kept_warnings
from .reading import LIMITS
from .settings import Settings, in_words

PLACES = {"understand": understand.page, "compare": compare.page}
NOWHERE = Address(place="")  # that the pages of the documentation are at
SCHEMES = ("light", "dark")  # that a Space may ask for


def open_site(**options: Any) -> gr.Server:
    """Return a server of the page, without the API."""
    # Gradio itself compresses its scripts only
    packed = [Middleware(GZipMiddleware, minimum_size=1000, compresslevel=6)]
    server = gr.Server(
        docs_url=None, redoc_url=None, openapi_url=None, middleware=packed, **options
    )
    server.mount("/static", StaticFiles(directory=STATIC))
    server.get("/")(show_place)
    server.head("/")(say_that_it_runs)
    server.post("/files")(keep_files)
    server.get("/docs/{path:path}")(show_document)
    return server


def say_that_it_runs() -> Response:
    """Answer without a page: Gradio starts only if it is answered within three seconds."""
    return Response()


def show_place(request: Request) -> HTMLResponse:
    """Answer with the page at its address."""
    address, notes = read_address(dict(request.query_params))
    return _page(request, address, notes)


def _page(request: Request, address: Address, notes: list[Note], status: int = 200) -> HTMLResponse:
    shown = _shown(request)
    try:
        # what the metric warns of is for the visitor, not for the server's log
        with kept_warnings():
            return HTMLResponse(PLACES[address.place](address, notes, shown), status)
    except (ValueError, OverflowError) as problem:  # of values that no check foresees
        fault = in_words(problem)
    usual, says = address._replace(settings=Settings(address.settings.k)), "The settings are reset"
    if address == usual:
        usual, says = Address(place=address.place), "This cannot be shown"
    notes.append(Note(sentence(f"{says}: {fault}")))
    return _page(request, usual, notes, status)


async def keep_files(request: Request) -> Response:
    """Keep the files of a form beside the address's files, and lead to the page with all of them.

    A form of the page has a length; a larger one is not read.
    """
    address, notes = read_address(dict(request.query_params))
    length = request.headers.get("content-length", "")
    most = TOGETHER["bytes"]
    if not length.isdigit() or int(length) > most:
        notes.append(Note(f"The files hold more than {most:,} bytes together; nothing was added."))
        return await run_in_threadpool(_page, request, address, notes, 413)
    async with request.form(max_files=MOST_FILES, max_part_size=LIMITS.bytes) as form:
        uploads = []
        for file in form.getlist("files"):
            # without a choice, a browser sends one file without a name
            if isinstance(file, UploadFile) and file.filename:
                uploads.append((file.filename, file.file))
        text, without = str(form.get("text", "")), str(form.get("without", ""))
        before = address.chosen.get("files", "")
        try:
            token = await run_in_threadpool(keep, uploads, text, before, without)
        except ValueError as problem:
            notes.append(Note(sentence(f"Nothing was added: {problem}")))
            return await run_in_threadpool(_page, request, address, notes, 400)
    chosen = {}
    # without the last file, there is nothing to choose among
    if paths_of(token):
        chosen = {name: address.chosen.get(name, "") for name in FILES}
        chosen["files"] = token
    there = Address(place="compare", settings=address.settings, chosen=chosen)
    return RedirectResponse(f"./{there.link()}", 303)


def show_document(request: Request, path: str) -> Response:
    """Answer with a page of the documentation, or with a file that it links."""
    file = file_of(path)
    if file is None:
        return HTMLResponse("There is no such page.", 404)
    if file.suffix != ".md":
        return FileResponse(file)
    shown = _shown(request, "../" * path.count("/") + "../")
    document = html_of(file, str(request.base_url))
    title = f"nDCG: {file.stem}"
    return HTMLResponse(
        render("docs.html", address=NOWHERE, notes=[], document=document, title=title, **shown)
    )


def _shown(request: Request, root: str = "") -> dict[str, Any]:
    """Return what every page shows: the way to the root, the address for links, and the colors."""
    scheme = request.query_params.get("__theme", "")
    home = str(request.base_url)
    # a Space is reached through a proxy, which asks the page without encryption
    if request.headers.get("x-forwarded-proto") == "https":
        home = home.replace("http://", "https://", 1)
    return {"root": root, "home": home, "scheme": scheme if scheme in SCHEMES else ""}
