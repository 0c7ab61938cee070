"""A visitor without a browser: what the server answers, as text."""

import gc
import html
import re
import warnings
from functools import cache, cached_property

from starlette.testclient import TestClient

UNSEEN = re.compile(r"(?s)<(script|style|head|option)\b.*?</\1>|<[^>]+>")


@cache
def server() -> TestClient:
    """Open the site, which imports Gradio for seconds: only tests of the group "page" do."""
    with warnings.catch_warnings():  # of the event loop that Gradio leaves open
        warnings.simplefilter("ignore")
        from page.site import open_site

        client = TestClient(open_site())
        gc.collect()
    gc.freeze()  # as after collecting the tests
    return client


class Page:
    """An answer of the server."""

    def __init__(self, source: str) -> None:
        self.source = source

    @cached_property
    def text(self) -> str:
        """What can be read on the page."""
        return text_of(self.source)

    @cached_property
    def notes(self) -> list[str]:
        """The notes at the top, each with its link."""
        return [text_of(note) for note in re.findall(r'(?s)<p class="note".*?</p>', self.source)]

    def part(self, name: str) -> str:
        """Return the HTML of a part of the page; nothing if it is not there."""
        for part in self.source.split(' data-part="')[1:]:
            if part.startswith(f'{name}"'):
                return part.rpartition("<")[0]
        return ""

    def says(self, name: str) -> str:
        """Return the text of a part of the page."""
        return text_of("<p " + self.part(name))

    def found(self, pattern: str) -> list[str]:
        """Return what a pattern finds in the HTML, as text."""
        return [html.unescape(text) for text in re.findall(pattern, self.source)]

    @property
    def value(self) -> str:
        """The large number."""
        (value,) = self.found('class="value">(.*?)<')
        return value

    @property
    def address(self) -> str:
        """The address of the page."""
        (query,) = self.found('data-address="(.*?)"')
        return f"?{query}"

    def links(self, text: str) -> list[str]:
        """Return where the links with a text lead to, each an address of the page."""
        anchors = re.findall(r'(?s)<a\b[^>]*?href="(.*?)"[^>]*>(.*?)</a>', self.source)
        return [html.unescape(link) for link, shown in anchors if text_of(shown) == text]

    def follow(self, text: str) -> "Page":
        """Return the page that the first link with a text leads to."""
        return look(self.links(text)[0])


def text_of(source: str) -> str:
    """Return HTML as text, with one space between words."""
    return " ".join(html.unescape(UNSEEN.sub(" ", source)).split())


def look(address: str = "") -> Page:
    """Return the page at an address, such as "?step=gain"."""
    answer = server().get(f"/{address}")
    assert answer.status_code == 200
    return Page(answer.text)


def send(address: str = "?tab=compare", text: str = "", without: str = "", **files: str) -> Page:
    """Return the page after files of these texts were sent to a page at an address."""
    sent = [("files", (name, content.encode())) for name, content in files.items()]
    fields = {"text": text, "without": without}
    answer = server().post(f"/files{address}", data=fields, files=sent or [("files", ("", b""))])
    return Page(answer.text)
