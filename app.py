"""The Space's page: see why a ranking scores what it does."""

from typing import Any

import gradio as gr

from page.api import api_tab
from page.batch import batch_tab
from page.card import DELIMITERS, card_tab
from page.choices import CHOICES, CONVENTIONS, bar_of, convention_of, formula, options_of, settings_of
from page.differences import differences_tab
from page.events import QUIET, follow
from page.ranking import ranking_tab
from page.render import CSS
from page.runs import runs_tab

FONT = ["ui-sans-serif", "system-ui", "sans-serif"]  # no font of another host
MONO = ["ui-monospace", "Consolas", "monospace"]
THEME = gr.themes.Default(primary_hue="blue", font=FONT, font_mono=MONO)


def options_bar() -> tuple[gr.Dropdown, list[Any]]:
    """Lay out the options that all tabs share; return the convention and the other fields in the order of a bar."""
    values = bar_of("sklearn")
    shown = dict(zip(CHOICES, values[2:], strict=True))
    negatives = [("refuse" if each == "raise" else each, each) for each in CHOICES["negative"]]
    missings = [("left out" if each == "skip" else each, each) for each in CHOICES["missing"]]
    with gr.Group(), gr.Row():
        convention = gr.Dropdown([*CONVENTIONS, "custom"], value="sklearn", label="Convention", min_width=150)
        cutoffs = gr.Textbox(values[0], label="Cutoffs k, such as 1, 5, 10", max_length=200, min_width=150)
        gain = gr.Dropdown(CHOICES["gain"], value=shown["gain"], label="Gain", min_width=120)
        discount = gr.Dropdown(CHOICES["discount"], value=shown["discount"], label="Discount", min_width=120)
        log_base = gr.Number(values[1], label="Base of the logarithm", min_width=120)
        ideal = gr.Dropdown(CHOICES["ideal"], value=shown["ideal"], label="Ideal", min_width=120)
        ties = gr.Dropdown(CHOICES["ties"], value=shown["ties"], label="Tied documents", min_width=120)
        empty = gr.Dropdown(CHOICES["empty"], value=shown["empty"], label="Nothing relevant", min_width=120)
        negative = gr.Dropdown(negatives, value=shown["negative"], label="Negative relevance", min_width=120)
        missing = gr.Dropdown(missings, value=shown["missing"], label="Query not in the run", min_width=120)
        unjudged = gr.Dropdown(CHOICES["unjudged"], value=shown["unjudged"], label="Not judged", min_width=120)
    formulas = gr.Markdown(formula(options_of(*values)), latex_delimiters=DELIMITERS, elem_id="formula")
    settings: list[Any] = [gain, discount, ideal, ties, empty, negative, missing]
    bar = [cutoffs, log_base, *settings, unjudged]
    convention.input(choose_convention, convention, settings, **QUIET)
    follow([each.input for each in settings], convention_of, settings, convention)
    follow([each.change for each in bar], show_formula, bar, formulas)
    return convention, bar


def choose_convention(name: str) -> list[Any]:
    """Return the settings of a convention; of none, no change."""
    return [gr.skip() if name == "custom" else each for each in settings_of("sklearn" if name == "custom" else name)]


def show_formula(*bar: Any) -> str | None:
    """Return the formula, or nothing where a choice makes none."""
    try:
        return formula(options_of(*bar))
    except ValueError:
        return None


with gr.Blocks(title="nDCG", delete_cache=(3600, 3600)) as demo:
    gr.Markdown("# nDCG\nSee why a ranking scores what it does.")
    convention, bar = options_bar()
    with gr.Tabs() as tabs:
        table = ranking_tab(demo, convention, bar)
        runs_tab(bar, table, tabs)
        batch = batch_tab(bar)
        differences_tab(bar, table, batch)
        card_tab()
        api_tab()

demo.queue(max_size=200, default_concurrency_limit=4)

if __name__ == "__main__":
    demo.launch(  # on a Space, Gradio takes host and port from the environment
        css=CSS,
        theme=THEME,
        max_file_size="20mb",
        mcp_server=True,
        ssr_mode=False,
        max_threads=12,  # each keeps memory of its own; four score at a time
        show_error=True,
        state_session_capacity=40,  # each takes a fifth of a megabyte, and every call of a program is one
    )
