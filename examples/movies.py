"""Two recommenders of films on MovieLens-100K: which is better, for whom, and how sure is that?

Both learn from the first 80% of the ratings by time and rank all films for each user; a user likes
a film of four or five stars. Popularity ranks by how many users like a film, factorization by ten
traits of users and films (PureSVD); users who have liked nothing yet get the popular films from
both. Users count who like some film later: without one, nothing is relevant.

The ratings (Harper & Konstan, 2015, https://doi.org/10.1145/2827872) are in the wheel of RecBole:
`pip install --no-deps recbole`.
"""

from importlib.resources import files
from pathlib import Path

import evaluate
import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.sparse.linalg import svds

HERE = Path(__file__).resolve().parent
TRAITS = 10


def split_ratings() -> tuple[np.ndarray, np.ndarray]:
    """Return the earlier and the later stars, shape ``(users, films)``; 0 for no rating."""
    with (files("recbole") / "dataset_example/ml-100k/ml-100k.inter").open() as lines:
        user, film, stars, time = np.loadtxt(lines, int, skiprows=1, unpack=True)
    later = (time > np.quantile(time, 0.8)).astype(int)
    split = np.zeros((2, user.max(), film.max()), int)
    split[later, user - 1, film - 1] = stars
    return split[0], split[1]


def recommend(liked: np.ndarray) -> dict[str, np.ndarray]:
    """Return the score that each recommender gives to every film for every user."""
    popularity = np.broadcast_to(liked.sum(axis=0), liked.shape)
    traits = svds(liked.astype(float), TRAITS, rng=0)[2]
    new = ~liked.any(axis=1, keepdims=True)
    return {
        "popularity": popularity,
        "factorization": np.where(new, popularity, liked @ traits.T @ traits),
    }


def main() -> None:
    """Print nDCG@10 of both recommenders by groups of users, and the difference."""
    known, later = split_ratings()
    everything, relevance = recommend(known >= 4), later >= 4
    # a film that the user has rated is not recommended again
    unseen = {name: np.where(known > 0, -np.inf, scores) for name, scores in everything.items()}
    asked, rated = relevance.any(axis=1), np.count_nonzero(known, axis=1)
    groups = np.select(
        [rated == 0, rated < 100], ["no ratings yet", "1 to 99 ratings"], "100 ratings or more"
    )

    ndcg = evaluate.load(str(HERE.parent / "ndcg.py"))
    options = {"references": relevance[asked], "k": 10, "baseline": "popularity"}
    comparisons = []
    for recommenders in (everything, unseen):
        systems = {name: scores[asked] for name, scores in recommenders.items()}
        comparisons.append(ndcg.compare(systems=systems, by=groups[asked], **options))
    all_films, unseen_only = comparisons
    rows = {"all, seen films too": all_films.scores, "all": unseen_only.scores}
    rows |= {group: users.scores for group, users in unseen_only.slices.items()}
    table = Table("users", "number", *unseen, title="nDCG@10 of films for users of MovieLens-100K")
    for group, by_name in rows.items():
        means = [scores["nDCG@10"] for scores in by_name.values()]
        number = str(means[0].queries)
        table.add_row(
            group,
            number,
            *(f"{mean.value:.4f} ({mean.low:.2f} – {mean.high:.2f})" for mean in means),
        )
    pair = unseen_only.pairs[0]
    difference = (
        f"{pair.system} – {pair.other}, all: {pair.difference:.4f} ({pair.low:.4f} – "
        f"{pair.high:.4f})"
    )
    table.caption = (
        f"{difference}, p = {pair.p:.2f};\nhigher for {pair.wins} users, lower for {pair.losses}"
    )
    Console().print(table)


if __name__ == "__main__":
    main()
