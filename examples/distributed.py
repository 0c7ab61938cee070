"""A ranker trained and evaluated by several processes: `torchrun --standalone --nproc-per-node 2`.

Each process scores its own share of the held-out queries, batch by batch as they come; process 0
gets nDCG@10 over all of them. The shares need not be equally long. A prepared DataLoader would
give the last queries out twice to make them so, and every repeated query would count twice in
the mean, so the queries are shared out by `split_between_processes`.
"""

from pathlib import Path

import evaluate
import torch
from accelerate import Accelerator
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

HERE = Path(__file__).resolve().parent
FEATURES = 16
PADDING = -100

Query = tuple[Tensor, Tensor]  # the features of its documents and their labels


def make_queries(number: int, seed: int) -> list[Query]:
    """Return queries of 5 to 40 documents, labelled 0 to 3 by two features, one stronger."""
    random = torch.Generator().manual_seed(seed)
    queries = []
    for documents in torch.randint(5, 41, (number,), generator=random).tolist():
        features = torch.randn(documents, FEATURES, generator=random)
        worth = features[:, :2].max(dim=1).values + 0.3 * torch.randn(documents, generator=random)
        queries.append((features, torch.bucketize(worth, torch.tensor([1.0, 1.5, 2.0]))))
    return queries


def pad(queries: list[Query]) -> Query:
    """One batch: every list as long as the longest, the rest labelled as padding."""
    features, labels = zip(*queries, strict=True)
    return pad_sequence(features, batch_first=True), pad_sequence(
        labels, batch_first=True, padding_value=PADDING
    )


def loss_of(scores: Tensor, labels: Tensor) -> Tensor:
    """ListNet's: the cross entropy between the softmax of labels and the softmax of scores."""
    padding = labels == PADDING
    wanted = labels.float().masked_fill(padding, -torch.inf).softmax(-1)
    return -(wanted * scores.masked_fill(padding, -1e9).log_softmax(-1)).sum(-1).mean()


def make_ranker() -> nn.Module:
    """Scores every document by its features, from random weights."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(FEATURES, 32), nn.ReLU(), nn.Linear(32, 1), nn.Flatten(-2))


def main() -> None:
    """Print nDCG@10 over the held-out queries after each epoch."""
    accelerator = Accelerator(cpu=True)
    ranker = make_ranker()
    optimizer = torch.optim.Adam(ranker.parameters(), lr=0.01)
    training = DataLoader(make_queries(600, seed=1), batch_size=25, collate_fn=pad)
    ranker, optimizer, training = accelerator.prepare(ranker, optimizer, training)
    ndcg = evaluate.load(
        str(HERE.parent / "ndcg.py"),
        num_process=accelerator.num_processes,
        process_id=accelerator.process_index,
        experiment_id="distributed",
    )
    held_out = make_queries(201, seed=2)
    table = Table("epoch", "nDCG@10", "queries of process 0", title="a ranker in several processes")
    for epoch in range(4):
        for features, labels in (
            training if epoch else ()
        ):  # before the first, the untrained is scored
            optimizer.zero_grad()
            accelerator.backward(loss_of(ranker(features), labels))
            optimizer.step()
        with accelerator.split_between_processes(held_out) as share:
            for features, labels in DataLoader(share, batch_size=32, collate_fn=pad):
                with torch.no_grad():
                    ndcg.add_batch(
                        predictions=ranker(features), references=labels, ignore_index=PADDING
                    )
            result = ndcg.compute(k=10)
            if result is not None:  # in process 0
                table.add_row(str(epoch), f"{result['nDCG@10']:.6f}", str(len(share)))
    if accelerator.is_main_process:
        Console().print(table)
    accelerator.end_training()


if __name__ == "__main__":
    main()
