"""Four recommenders of films, scored on flat columns of user, score and rating.

The ratings, 0 to 4 stars, are simulated: users and films have five hidden traits, and people
rate popular films more often. Each user's films are split at random; a recommender learns from
one part and ranks the other. A row is one rating, and rows are in no order.
"""

from pathlib import Path
from typing import NamedTuple

import evaluate
import numpy as np
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent
USERS, FILMS, TRAITS = 600, 300, 5


class Ratings(NamedTuple):
    """Columns, one entry per rating."""

    user: np.ndarray
    film: np.ndarray
    stars: np.ndarray

    def rows(self, chosen: np.ndarray) -> "Ratings":
        """Return the rows that are chosen."""
        return Ratings(self.user[chosen], self.film[chosen], self.stars[chosen])


def simulate(rng: np.random.Generator) -> tuple[Ratings, Ratings]:
    """Ratings to learn from and ratings to predict, in no order."""
    appeal = rng.normal(size=FILMS)
    taste = rng.normal(size=(USERS, TRAITS)) @ rng.normal(size=(TRAITS, FILMS)) / TRAITS**0.5
    liking = taste + appeal + rng.normal(scale=0.5, size=(USERS, FILMS))
    seen = rng.random((USERS, FILMS)) < 0.4 / (1 + np.exp(-appeal))
    user, film = np.nonzero(seen)
    shuffled = rng.permutation(len(user))
    user, film = user[shuffled], film[shuffled]
    stars = np.digitize(liking[user, film], [-1, 0, 1, 2])
    ratings, held_out = Ratings(user, film, stars), rng.random(len(user)) < 0.4
    return ratings.rows(~held_out), ratings.rows(held_out)


def factorize(
    known: Ratings, rng: np.random.Generator, steps: int = 15, penalty: float = 3.0
) -> np.ndarray:
    """Predicted stars of every user and film, by alternating least squares."""
    stars, weight = np.zeros((USERS, FILMS)), np.zeros((USERS, FILMS))
    stars[known.user, known.film] = known.stars - known.stars.mean()
    weight[known.user, known.film] = 1
    user_traits = rng.normal(size=(USERS, TRAITS + 1))
    film_traits = rng.normal(size=(FILMS, TRAITS + 1))

    def solve(other: np.ndarray, stars: np.ndarray, weight: np.ndarray) -> np.ndarray:
        squares = np.einsum(
            "rc,ci,cj->rij", weight, other, other, optimize=True
        ) + penalty * np.eye(TRAITS + 1)
        return np.linalg.solve(squares, (stars @ other)[..., np.newaxis])[..., 0]

    for _ in range(steps):
        user_traits = solve(film_traits, stars, weight)
        film_traits = solve(user_traits, stars.T, weight.T)
    return known.stars.mean() + user_traits @ film_traits.T


def recommend(known: Ratings, asked: Ratings, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return the score that each recommender gives to each row asked for."""
    views = np.bincount(known.film, minlength=FILMS)
    mean_stars = np.bincount(known.film, weights=known.stars, minlength=FILMS) / np.maximum(
        views, 1
    )
    return {
        "at random": rng.random(len(asked.film)),
        "most watched": views[asked.film],
        "best rated": mean_stars[asked.film],
        "matrix factorization": factorize(known, rng)[asked.user, asked.film],
    }


def main() -> None:
    """Print nDCG@10 of the recommenders."""
    rng = np.random.default_rng(0)
    known, asked = simulate(rng)
    ndcg = evaluate.load(str(HERE.parent / "ndcg.py"))
    users, rows = len(np.unique(asked.user)), len(asked.user)
    table = Table("recommender", "nDCG@10", title=f"{rows:,} ratings of {users} users")
    for name, scores in recommend(known, asked, rng).items():
        result = ndcg.compute(
            predictions=scores, references=asked.stars, query_ids=asked.user, k=10
        )
        table.add_row(name, f"{result['nDCG@10']:.4f}")
    Console().print(table)


if __name__ == "__main__":
    main()
