"""A ranker trained by `transformers.Trainer`, with nDCG@10 at each evaluation.

Each example is a query with 5 to 40 documents. A document has 16 features and a label from 0
to 3, which a hidden function of the features decides, up to noise. The model scores each
document; the lists of a batch are padded to one length, with the label -100.
"""

import tempfile
from pathlib import Path

import evaluate
import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from transformers import (
    PreTrainedConfig,
    PreTrainedModel,
    PrinterCallback,
    Trainer,
    TrainingArguments,
)

HERE = Path(__file__).resolve().parent
FEATURES = 16
PADDING = -100

Query = dict[str, np.ndarray]


class RankerConfig(PreTrainedConfig):
    """The size of a ranker."""

    model_type = "ranker"
    hidden_size: int = 32


class Ranker(PreTrainedModel):
    """Scores every document of a query by its features."""

    config_class = RankerConfig
    main_input_name = "features"

    def __init__(self, config: RankerConfig) -> None:
        """Return a ranker with random weights."""
        super().__init__(config)
        self.hidden = nn.Linear(FEATURES, config.hidden_size)
        self.score = nn.Linear(config.hidden_size, 1)
        self.post_init()

    def forward(self, features: Tensor, labels: Tensor | None = None) -> dict[str, Tensor]:
        """Return the scores, shape ``(queries, documents)``, and with labels the loss.

        The loss is ListNet's: the cross entropy between the softmax of the labels and the softmax
        of the scores.
        """
        scores = self.score(self.hidden(features).relu()).squeeze(-1)
        if labels is None:
            return {"logits": scores}
        padding = labels == PADDING
        wanted = labels.float().masked_fill(padding, -torch.inf).softmax(-1)
        log_shares = scores.masked_fill(padding, -1e9).log_softmax(-1)
        return {"loss": -(wanted * log_shares).sum(-1).mean(), "logits": scores}


def make_queries(number: int, rng: np.random.Generator) -> list[Query]:
    """Return queries of documents labelled by two directions of the features, and some noise."""
    directions = np.random.default_rng(0).normal(size=(2, FEATURES)) / FEATURES**0.5
    queries = []
    for _ in range(number):
        features = rng.normal(size=(rng.integers(5, 41), FEATURES)).astype(np.float32)
        along, across = directions @ features.T
        worth = along + np.abs(across) + rng.normal(scale=0.2, size=len(features))
        queries.append({"features": features, "labels": np.digitize(worth, [0.8, 1.6, 2.4])})
    return queries


def pad(queries: list[Query]) -> dict[str, Tensor]:
    """One batch: every list as long as the longest, the rest labelled as padding."""
    longest = max(len(query["labels"]) for query in queries)
    features = torch.zeros(len(queries), longest, FEATURES)
    labels = torch.full((len(queries), longest), PADDING)
    for row, query in enumerate(queries):
        features[row, : len(query["labels"])] = torch.from_numpy(query["features"])
        labels[row, : len(query["labels"])] = torch.from_numpy(query["labels"])
    return {"features": features, "labels": labels}


def main() -> None:
    """Print nDCG@10 before, during and after training."""
    ndcg = evaluate.load(str(HERE.parent / "ndcg.py"))
    torch.manual_seed(0)
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(
            model=Ranker(RankerConfig()),
            args=TrainingArguments(
                output_dir=folder,
                max_steps=100,
                per_device_train_batch_size=32,
                per_device_eval_batch_size=64,
                learning_rate=0.01,
                eval_strategy="steps",
                eval_steps=20,
                eval_on_start=True,
                batch_eval_metrics=True,  # scores each batch as it comes, and keeps no predictions
                save_strategy="no",
                report_to="none",
                disable_tqdm=True,
                dataloader_pin_memory=False,
                use_cpu=True,
            ),
            data_collator=pad,
            train_dataset=make_queries(1000, rng),
            eval_dataset=make_queries(200, rng),
            compute_metrics=ndcg.trainer_metrics(k=10),
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    table = Table("step", "eval_nDCG@10", title="a ranker in training")
    for entry in trainer.state.log_history:
        if "eval_nDCG@10" in entry:
            table.add_row(str(entry["step"]), f"{entry['eval_nDCG@10']:.4f}")
    Console().print(table)


if __name__ == "__main__":
    main()
