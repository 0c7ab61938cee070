"""A model that scores documents in a `transformers.Trainer`, and the collators of its batches."""

from typing import Any

import numpy as np
import torch
from transformers import PreTrainedConfig, PreTrainedModel

WEIGHTS = [1.0, -1.0, 0.5, 2.0]
Example = dict[str, np.ndarray]


class ScorerConfig(PreTrainedConfig):
    """Which outputs the model has: words such as "column", "two logits", "bf16" and "tuple"."""

    model_type = "scorer"
    outputs: str = "plain"


class Scorer(PreTrainedModel):
    """Scores the end of its input's last axis, whole numbers exactly, so that ties stay ties."""

    config_class = ScorerConfig
    main_input_name = "features"

    def __init__(self, config: ScorerConfig) -> None:
        super().__init__(config)
        self.weight = torch.nn.Parameter(torch.tensor(WEIGHTS))
        self.post_init()

    def _init_weights(self, module: torch.nn.Module) -> None:
        """The weights stay as they are."""

    def forward(self, features: torch.Tensor, labels: torch.Tensor) -> dict[str, Any]:
        scores = (features[..., -len(WEIGHTS) :] * self.weight).sum(-1)
        loss = ((scores - labels)[labels != -100] ** 2).mean()
        outputs = self.config.outputs
        logits = scores.unsqueeze(-1) if "column" in outputs else scores
        logits = torch.stack([-scores / 2, scores / 2], -1) if "two logits" in outputs else logits
        logits = logits.bfloat16() if "bf16" in outputs else logits
        return {
            "loss": loss,
            "logits": logits,
            **({"hidden": features} if "tuple" in outputs else {}),
        }


def pad(queries: list[Example]) -> dict[str, torch.Tensor]:
    """A batch as wide as its own longest query."""
    features, labels = (
        [torch.from_numpy(query[name]) for query in queries] for name in ("features", "labels")
    )
    padded = torch.nn.utils.rnn.pad_sequence
    return {
        "features": padded(features, batch_first=True, padding_value=7.0),  # would rank high
        "labels": padded(labels, batch_first=True, padding_value=-100),
    }


def pad_pairs(rows: list[Example]) -> dict[str, torch.Tensor]:
    """A batch as wide as its own widest row: ids in front, features at the end."""
    features = torch.zeros(len(rows), max(len(row["features"]) for row in rows))
    features[:, 0] = torch.tensor([row["features"][0] for row in rows])
    features[:, -len(WEIGHTS) :] = torch.tensor(
        np.array([row["features"][-len(WEIGHTS) :] for row in rows])
    )
    return {"features": features, "labels": torch.tensor([int(row["labels"]) for row in rows])}
