"""The Space's page: the metric card, rendered with its formulas."""

from pathlib import Path

import gradio as gr

HERE = Path(__file__).resolve().parent


def metric_card() -> str:
    """The README without its front matter."""
    return (HERE / "README.md").read_text(encoding="utf-8").split("---\n", 2)[2]


with gr.Blocks(title="nDCG") as page:
    gr.Markdown(
        metric_card(),
        latex_delimiters=[
            {"left": "$$", "right": "$$", "display": True},
            {"left": "$", "right": "$", "display": False},
        ],
    )

if __name__ == "__main__":
    page.launch()  # on a Space, Gradio takes host and port from the environment
