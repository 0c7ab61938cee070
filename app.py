"""The Space's page: why a ranking has its score, and which of several runs is better."""

from page.api import ERROR_HANDLERS, open_api
from page.site import open_site

server = open_site(exception_handlers=ERROR_HANDLERS)
api = open_api()

if __name__ == "__main__":
    api.launch(  # on a Space, Gradio takes host and port from the environment
        _app=server,
        max_file_size="20mb",
        mcp_server=True,
        max_threads=12,  # each keeps memory of its own; four score at a time
        show_error=True,
        state_session_capacity=40,  # every call of a program is a session
    )
