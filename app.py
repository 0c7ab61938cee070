"""The Space's page: see why a ranking scores what it does."""

from typing import Any

import gradio as gr
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware

from page.address import keep_address
from page.api import ERROR_HANDLERS, api_tab
from page.batch import batch_tab
from page.card import card_tab
from page.choices import CHOICES, CONVENTIONS, FIELDS, WORDS, bar_of, convention_of, settings_of
from page.events import QUIET, follow
from page.explanation import explanation_tab
from page.ranking import ranking_tab
from page.render import CSS, HEAD
from page.runs import runs_tab

ABOUT = "# nDCG\nNormalized discounted cumulative gain: how good a ranking is, up to 1."
FONT = ["ui-sans-serif", "system-ui", "sans-serif"]  # no font of another host
MONO = ["ui-monospace", "Consolas", "monospace"]
# what Gradio leaves out: keys that scroll, whether a fold is open, and which file a field is for
NAMES_AND_KEYS = """() => {
  const all = (where, change) => document.querySelectorAll(where).forEach(change);
  const mend = () => {
    all(":is(pre, #card-text table, #calls table):not([tabindex])", each => { each.tabIndex = 0; });
    all("button.label-wrap", each => each.ariaExpanded = each.classList.contains("open"));
    all(".block:has(input[type=file]):not(:has(.block))", block => {
      const name = block.querySelector("label")?.innerText.trim();
      if (!name) return;  // such as that of a table
      for (const each of block.querySelectorAll("button, a, input[type=file]")) {
        const own = each.dataset.named ??= (each.ariaLabel || each.innerText || "choose").replace("common.", "").trim();
        const file = each.closest("tr")?.querySelector(".filename")?.innerText ?? "";
        each.ariaLabel = `${name}: ${own} ${file}`.trim();
      }
    });
  };
  const changes = { childList: true, subtree: true, attributes: true, attributeFilter: ["class"] };
  new MutationObserver(mend).observe(document.body, changes);
  mend();
}"""
THEME = gr.themes.Default(primary_hue="blue", font=FONT, font_mono=MONO)


def options_bar() -> tuple[gr.Dropdown, list[Any]]:
    """Lay out the options that all tabs share: the convention, and the other fields in the order of a bar."""
    values = bar_of("sklearn")
    words = {
        name: [(WORDS.get((name, each), each), each) for each in choices]
        for name, choices in CHOICES.items()
    }
    with gr.Accordion(summary("sklearn", values[0]), open=False, elem_id="options") as folded:
        with gr.Row():
            convention = gr.Dropdown(
                [*CONVENTIONS, "custom"], value="sklearn", label="Convention", min_width=150
            )
            cutoffs = gr.Textbox(
                values[0], label="Cutoffs k, such as 1, 5, 10", max_length=200, min_width=150
            )
            gain = gr.Dropdown(
                words["gain"],
                value=values[2],
                label=FIELDS["gain"],
                allow_custom_value=True,
                min_width=220,
            )
        with gr.Row():
            log_base = gr.Number(values[1], label="Base of the logarithm", min_width=160)
            others = [
                gr.Dropdown(words[name], value=value, label=FIELDS[name], min_width=160)
                for name, value in [*zip(CHOICES, values[2:], strict=True)][1:]
            ]
    settings = [gain, *others]
    bar = [cutoffs, log_base, *settings]
    made = settings[: len(settings_of("sklearn"))]  # by a convention
    convention.input(choose_convention, convention, made, **QUIET)
    follow([each.input for each in made], convention_of, made, convention)
    follow(
        [convention.change, cutoffs.change],
        lambda *chosen: gr.Accordion(summary(*chosen)),
        [convention, cutoffs],
        folded,
    )
    return convention, bar


def choose_convention(name: str) -> list[Any]:
    """Return the settings of a convention; of none, no change."""
    return [
        gr.skip() if name == "custom" else each
        for each in settings_of("sklearn" if name == "custom" else name)
    ]


def summary(convention: str, cutoffs: str) -> str:
    """Return the name of the folded options: what is chosen."""
    return (
        f"Options: convention {convention}, {f'k = {cutoffs}' if cutoffs.strip() else 'all ranks'}"
    )


with gr.Blocks(title="nDCG", delete_cache=(3600, 3600)) as demo:
    gr.Markdown(ABOUT, elem_id="about")
    convention, bar = options_bar()
    with gr.Tabs() as tabs:
        table, title, step, link = ranking_tab(convention, bar)
        files = runs_tab(convention, bar, (table, title, tabs))
        batch = batch_tab(bar)
        source, got = explanation_tab(bar, table, files, batch)
        card_tab()
        api_tab(demo)
    demo.load(None, js=NAMES_AND_KEYS)
    keep_address(demo, tabs, link, title, [step, table, convention, *bar, source, got], batch)

demo.queue(max_size=200, default_concurrency_limit=4)

if __name__ == "__main__":
    demo.launch(  # on a Space, Gradio takes host and port from the environment
        # Gradio itself compresses its scripts, neither the page nor answers
        app_kwargs={
            "exception_handlers": ERROR_HANDLERS,
            "middleware": [Middleware(GZipMiddleware, compresslevel=6)],
        },
        css=CSS,
        head=HEAD,
        theme=THEME,
        max_file_size="20mb",
        mcp_server=True,
        ssr_mode=False,
        max_threads=12,  # each keeps memory of its own; four score at a time
        show_error=True,
        state_session_capacity=40,  # each takes a fifth of a megabyte, and every call of a program is one
    )
