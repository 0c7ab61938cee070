"""A scorer of pairs trained by `transformers.Trainer`, with nDCG@10 before and after.

Each row is a pair of a query and a document, as in cross-encoders: two images of scikit-learn's
digits. The last 100 images are the queries of the evaluation set, each with ten other images. The
model learns from the products of the pixels which pairs show the same digit.
"""

import tempfile
from pathlib import Path

import evaluate
import numpy as np
import torch
from datasets import Dataset
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_digits
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel, Trainer, TrainingArguments

HERE = Path(__file__).resolve().parent


class PairScorer(PreTrainedModel):
    """Scores a pair by a weighted sum of its features."""

    config_class = PreTrainedConfig
    main_input_name = "features"

    def __init__(self, config: PreTrainedConfig) -> None:
        """Return a scorer with random weights."""
        super().__init__(config)
        self.score = nn.Linear(64, 1)
        self.post_init()

    def forward(self, features: Tensor, labels: Tensor | None = None) -> dict[str, Tensor]:
        """Return the scores, one per pair, and with labels the loss."""
        scores = self.score(features).squeeze(-1)
        if labels is None:
            return {"logits": scores}
        loss = nn.functional.binary_cross_entropy_with_logits(scores, labels)
        return {"loss": loss, "logits": scores}


def make_pairs(queries: np.ndarray, seed: int) -> Dataset:
    """Return ten pairs per query, one per row: its image with ten others."""
    digits, rng = load_digits(), np.random.default_rng(seed)
    query, other = np.repeat(queries, 10), rng.integers(0, 1500, 10 * len(queries))
    return Dataset.from_dict(
        {
            "query": query,
            "features": digits.data[query] * digits.data[other] / 64,
            "label": (digits.target[query] == digits.target[other]).astype(np.float32),
        }
    )


def main() -> None:
    """Print nDCG@10 before and after training, and nDCG of the predictions by `compute`."""
    ndcg = evaluate.load(str(HERE.parent / "ndcg.py"))
    torch.manual_seed(0)
    train_data, evaluation_data = (
        make_pairs(np.arange(1500), 0),
        make_pairs(np.arange(1697, 1797), 1),
    )
    columns = {"query_ids": evaluation_data["query"], "references": evaluation_data["label"]}
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(
            model=PairScorer(PreTrainedConfig()),
            args=TrainingArguments(
                output_dir=folder,
                learning_rate=0.01,
                max_steps=500,
                per_device_train_batch_size=64,
                save_strategy="no",
                report_to="none",
                disable_tqdm=True,
                dataloader_pin_memory=False,
                use_cpu=True,
            ),
            train_dataset=train_data,
            eval_dataset=evaluation_data,
            compute_metrics=ndcg.trainer_metrics(k=10, **columns),
        )
        before = trainer.evaluate()["eval_nDCG@10"]
        trainer.train()
        after = trainer.evaluate()["eval_nDCG@10"]
        predictions = trainer.predict(evaluation_data).predictions
    table = Table("model", "nDCG@10", title="a scorer of pairs")
    table.add_row("before training", f"{before:.4f}")
    table.add_row("after training", f"{after:.4f}")
    table.add_row(
        "its predictions, by compute",
        f"{ndcg.compute(predictions=predictions, **columns, k=10)['nDCG@10']:.4f}",
    )
    Console().print(table)


if __name__ == "__main__":
    main()
