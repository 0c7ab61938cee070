"""The metric as a sentence-transformers evaluator, for bi-encoders, sparse encoders and rerankers.

A model ranks the documents of every query, and the scores come from a report on this run. The
corpus is encoded one chunk at a time, and only documents that may affect the score are kept.
"""

import csv
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from itertools import count
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np

from ..inputs.ids import check_query_ids
from ..inputs.reading import Inputs
from ..measure.messages import imported, renamed, shown, worded
from ..measure.options import Cutoffs, Options, QueryOptions, whole
from ..statistics.measured import Resampling
from ..statistics.report import Report, report_on

if TYPE_CHECKING:
    from torch import Tensor

Run = dict[Any, dict[Any, float]]
IdsByQuery = Mapping[Any, Collection[Any]]
ScoreFunction = Callable[[Any, Any], "Tensor"]
Similarity = Literal["cosine", "dot", "euclidean", "manhattan"]

NOT_IN_FILE_NAMES = re.compile(r'[\\/:*?"<>|\x00-\x1f]')  # on any system
TIED = 1000  # the most documents per query that are kept because they tie with the last one


@dataclass
class Search:
    """Rank a corpus, or the candidates of a query, with a model."""

    queries: Mapping[Any, Any]  # the texts
    corpus: Mapping[Any, Any]
    candidates: IdsByQuery | None  # the documents to rank; None for the corpus
    documents: list[Any]  # all documents to rank
    depth: int  # how many documents of a query are kept
    judged: IdsByQuery  # documents that are kept at any rank
    score_dtype: str  # the type in which scores are compared, in which documents tie
    sign: int  # with it, the highest score ranks first
    query_options: dict[str, Any]  # the model's arguments for queries and for pairs
    document_options: dict[str, Any]  # the model's arguments for documents
    embedding_options: dict[str, Any]  # further ones of embedding models
    chunk: int  # the number of documents, or pairs, that are encoded and scored at a time
    # a function of the embeddings of queries and of documents; None for the model's
    score_function: "ScoreFunction | None"

    def run(self, model: Any) -> Run:
        """Return the documents of every query with scores, best first, equal ones by their ids."""
        from sentence_transformers import CrossEncoder

        if isinstance(model, CrossEncoder):
            scored = self._reranked(model)
        else:
            scored = self._retrieved(model)
        run: Run = {}
        for query, documents in scored.items():
            run[query] = {document: self.sign * score for document, score in _ranked(documents)}
        return run

    def _reranked(self, model: Any) -> Run:
        if self.candidates is None:
            raise ValueError(
                "candidates are missing, and a reranker needs them; give {query: ids}, such as "
                "the run of a retriever's evaluator, evaluator.run"
            )
        run: Run = {query: {} for query in self.queries}
        pairs = [(query, document) for query in run for document in self.candidates[query]]
        for start in range(0, len(pairs), self.chunk):
            chunk = pairs[start : start + self.chunk]
            texts = [(self.queries[query], self.corpus[document]) for query, document in chunk]
            scores = np.asarray(model.predict(texts, **self.query_options))
            if scores.ndim > 1:
                raise ValueError(
                    f"model: gives {scores.shape[1]} scores for a pair, but a reranker gives one; "
                    "make it with num_labels=1"
                )
            for (query, document), score in zip(chunk, scores.tolist(), strict=True):
                run[query][document] = self.sign * score
        return run

    def _retrieved(self, model: Any) -> Run:
        import torch

        texts = list(self.queries.values())
        queries = model.encode_query(texts, **self.query_options, **self.embedding_options)
        # The best scores so far, a row for a query, and the places of documents in the corpus.
        scores = torch.empty(len(self.queries), 0)
        places = torch.empty(len(self.queries), 0, dtype=torch.int64)
        run: Run = {query: {} for query in self.queries}
        for start in range(0, len(self.documents), self.chunk):
            documents = self.documents[start : start + self.chunk]
            texts = [self.corpus[document] for document in documents]
            options = {**self.document_options, **self.embedding_options}
            embeddings = model.encode_document(texts, **options)
            similarity = self._similarity(model, queries, embeddings, len(texts))
            similarity = self._of_candidates(similarity, start)
            for query, row, judged in self._rows(self.judged, start, len(texts)):
                ids = map(documents.__getitem__, judged)
                run[query].update(zip(ids, similarity[row, judged].tolist(), strict=True))
            similarity, columns = _highest_columns(similarity, self.depth, self.score_dtype)
            both = torch.cat([scores.to(similarity), similarity], dim=1)
            scores, order = _highest_columns(both, self.depth, self.score_dtype)
            places = torch.cat([places.to(columns), columns + start], dim=1).gather(1, order)
        for row, query in enumerate(self.queries):
            ids = map(self.documents.__getitem__, places[row].tolist())
            best = dict(zip(ids, scores[row].tolist(), strict=True))
            # Of a judged document that is among the best, both have the same score.
            run[query] = best | run[query]
        return run

    def _similarity(self, model: Any, queries: Any, documents: Any, width: int) -> "Tensor":
        """Return scores of queries and documents from their embeddings; higher is better."""
        import torch

        similarity = (self.score_function or model.similarity)(queries, documents)
        shape = (len(self.queries), width)
        returned: Any = type(similarity).__name__
        if isinstance(similarity, torch.Tensor):
            returned = tuple(similarity.shape)
        if returned != shape:
            raise ValueError(
                "score_function: must return a tensor of queries and documents, here of shape "
                f"{shape}; got {returned}"
            )
        if not similarity.is_floating_point():
            similarity = similarity.double()  # so that -inf can mark documents out of the ranking
        return similarity * self.sign

    def _of_candidates(self, scores: "Tensor", start: int) -> "Tensor":
        """Return the scores of a chunk, -inf for documents that are not candidates of the query."""
        if self.candidates is None:
            return scores
        kept = scores.new_full(scores.shape, -np.inf)
        for _, row, columns in self._rows(self.candidates, start, scores.shape[1]):
            kept[row, columns] = scores[row, columns]
        return kept

    def _rows(
        self, ids_by_query: IdsByQuery, start: int, width: int
    ) -> Iterator[tuple[Any, int, list[int]]]:
        """Yield queries with documents in a chunk: the query, its row, and their columns."""
        chunk = self.documents[start : start + width]
        column_of = {document: column for column, document in enumerate(chunk)}
        for row, query in enumerate(self.queries):
            ids = ids_by_query.get(query, ())
            columns = [column_of[document] for document in ids if document in column_of]
            if columns:
                yield query, row, columns


def _ranked(documents: Mapping[Any, float]) -> list[tuple[Any, float]]:
    """Return retrieved documents with scores, the highest first and equal ones by their ids."""
    retrieved = ((document, score) for document, score in documents.items() if score != -np.inf)
    return sorted(retrieved, key=lambda pair: (-pair[1], pair[0]))


def _highest_columns(scores: "Tensor", k: int, score_dtype: str) -> "tuple[Tensor, Tensor]":
    """Return the k highest scores of a row and their columns, equal scores by their columns.

    Up to `TIED` more scores are returned if they tie with the k-th in the type in which scores are
    compared, because they share its rank. Shorter rows are padded with -inf.
    """
    import torch

    k = min(k, scores.shape[1])
    compared = scores
    if score_dtype != "given":
        compared = scores.to(getattr(torch, score_dtype))
    values, columns = compared.topk(k, dim=1)
    last = values[:, -1:]
    reach = (compared >= last).sum(dim=1, keepdim=True).clamp(k, k + TIED)
    reach[last == -np.inf] = k
    width = int(reach.max())
    if width > k:
        columns = compared.topk(width, dim=1).indices
        tied = reach[:, 0] > k  # topk returns an arbitrary choice of them
        columns[tied] = compared[tied].sort(dim=1, descending=True, stable=True).indices[:, :width]
    columns = columns.sort(dim=1).values
    columns = columns.gather(
        1, compared.gather(1, columns).argsort(dim=1, descending=True, stable=True)
    )
    values = scores.gather(1, columns)
    values[torch.arange(width, device=values.device) >= reach] = -np.inf
    return values, columns


def sentence_transformers_evaluator(
    queries: Mapping[Any, Any],
    corpus: Mapping[Any, Any],
    relevant_docs: Mapping[Any, Mapping[Any, float] | Collection[Any]],
    k: Cutoffs = 10,
    *,
    candidates: IdsByQuery | None = None,
    exclude: IdsByQuery | None = None,
    sample_weight: Any = None,
    by: Any = None,
    confidence: float = 0.95,
    name: str = "",
    batch_size: int = 32,
    corpus_chunk_size: int = 50_000,
    score_function: ScoreFunction | Similarity | None = None,
    truncate_dim: int | None = None,
    max_active_dims: int | None = None,
    query_prompt: str | None = None,
    query_prompt_name: str | None = None,
    corpus_prompt: str | None = None,
    corpus_prompt_name: str | None = None,
    show_progress_bar: bool = False,
    write_csv: bool = True,
    **options: Unpack[QueryOptions],
) -> Any:
    """Return a sentence-transformers evaluator, for a trainer's `evaluator=` or to call on a model.

    The model is a `SentenceTransformer` or a `SparseEncoder`, which rank the corpus, or a
    `CrossEncoder`, which reranks the `candidates`. A call returns floats by name: `nDCG@10`, the
    ends of its interval as `nDCG@10/low` and `nDCG@10/high`, and by slice `nDCG@10/slice=en`. The
    first name is `primary_metric`. The evaluator keeps the `report` and the `run`, `{query:
    {document: score}}`, of its last call. `compute` gives the same scores for whole rankings:
    besides the k best documents of a query, the run contains up to 1,000 documents that tie with
    the last of them (the lowest ids first) and, if `judged_only` or `ideal="retrieved"` is set, all
    judged documents.

    Memory holds only the embeddings of the queries and of one chunk of the corpus, queries × (chunk
    + k) scores, and these documents of every query; with `k=None`, all documents.

    Args:
        queries: the text of every query, by its id.
        corpus: the text of every document, by its id.
        relevant_docs: the relevance of documents, `{query: {document: grade}}`, or `{query: ids}`,
            with relevance 1. Queries that are not in it are skipped.
        k: the cutoff or cutoffs; None for the whole list, or if all `measures` have cutoffs.
        candidates: the documents to rank for every query, `{query: ids}`, such as a `run`; None for
            the corpus. A query without candidates has no ranking; see `missing`.
        exclude: documents to remove from rankings and ideals, `{query: ids}`.
        sample_weight: one weight per query for the mean, in the order of `relevant_docs`.
        by: a value per query, as in `report`, in the order of `relevant_docs` or `{query: value}`.
        confidence: the confidence level of the intervals, between 0 and 1.
        name: a prefix of the names of results, and a part of the name of the CSV file, in which `-`
            replaces a slash.
        batch_size: the number of texts, or pairs, in a batch of the model.
        corpus_chunk_size: the number of documents, or pairs, that are encoded and scored at a time.
        score_function: a function of the embeddings of queries and of documents, or its name; None
            for the model's similarity. For a function that returns distances, set
            `score_order="ascending"`.
        truncate_dim: the number of dimensions of a dense embedding; None for all.
        max_active_dims: the most nonzero dimensions of a sparse embedding; None for no limit.
        query_prompt: a prefix of every query, or of every pair in a reranker.
        query_prompt_name: the name of such a prompt in the model.
        corpus_prompt: a prefix of every document.
        corpus_prompt_name: the name of such a prompt in the model.
        show_progress_bar: show the model's progress bar for every chunk.
        write_csv: append the results to a file in the folder that a call, or the trainer, names.
        **options: the options of `compute`, except `use_aggregator` and `engine`.

    Raises:
        ValueError: as in `report`; or an id is not in `queries` or `corpus`.
        ImportError: sentence-transformers or SciPy is missing.
    """
    parsed = Options.for_method(sentence_transformers_evaluator, k, options)
    resampling = Resampling.parse(confidence)
    evaluator_class = _evaluator_class()
    references = _judgments(queries, corpus, relevant_docs)
    if exclude is not None:
        _check_mapping("exclude", exclude)
    searched: IdsByQuery = references
    ranked: Collection[Any] = corpus
    if candidates is not None:
        candidates = _candidates(candidates, queries, corpus, references)
        searched = candidates  # a query without candidates has no ranking
        ranked = set().union(*candidates.values())
    embedding = _given(truncate_dim=truncate_dim, max_active_dims=max_active_dims)
    sizes = {"corpus_chunk_size": corpus_chunk_size, "batch_size": batch_size, **embedding}
    for argument, size in sizes.items():
        whole(argument, size, 1)
    prompts = _given(
        query_prompt=query_prompt,
        query_prompt_name=query_prompt_name,
        corpus_prompt=corpus_prompt,
        corpus_prompt_name=corpus_prompt_name,
    )
    shared = {"batch_size": batch_size, "show_progress_bar": show_progress_bar}
    inputs = Inputs(None, references, exclude=exclude, sample_weight=sample_weight, by=by)
    report_of = _reports(inputs, parsed, resampling)
    if isinstance(score_function, str):
        from sentence_transformers import SimilarityFunction

        score_function = SimilarityFunction.to_similarity_fn(score_function)
    depth, judged = _kept(parsed, len(corpus), exclude or {}, references)
    signature = parsed.signature(weighted=sample_weight is not None, excluding=exclude is not None)
    config = {"signature": signature, **embedding, **prompts}
    search = Search(
        queries={query: queries[query] for query in searched},
        corpus=corpus,
        candidates=candidates,
        documents=_sorted_ids(ranked),
        depth=depth,
        judged=judged,
        score_dtype=parsed.score_dtype,
        sign=-1 if parsed.score_order == "ascending" else 1,
        query_options={**shared, "prompt": query_prompt, "prompt_name": query_prompt_name},
        document_options={**shared, "prompt": corpus_prompt, "prompt_name": corpus_prompt_name},
        embedding_options={"convert_to_tensor": True, **embedding},
        chunk=corpus_chunk_size,
        score_function=score_function,
    )
    return evaluator_class(search, report_of, name, write_csv, parsed.names[0], config)


def _judgments(queries: Any, corpus: Any, relevant_docs: Any) -> Run:
    """Return the grades of documents by query; ids without grades have the grade 1."""
    _check_mapping("queries", queries)
    _check_mapping("corpus", corpus)
    _check_in_corpus("relevant_docs", relevant_docs, corpus)
    _check_known("relevant_docs", relevant_docs, queries, "give its text, or remove it")
    _check_texts("queries", queries)
    _check_texts("corpus", corpus)
    judgments: Run = {}
    for query, documents in relevant_docs.items():
        if isinstance(documents, Mapping):
            judgments[query] = dict(documents)
        else:
            judgments[query] = dict.fromkeys(documents, 1)
    return judgments


def _sorted_ids(documents: Collection[Any]) -> list[Any]:
    try:
        return sorted(documents)
    except TypeError:
        raise ValueError("corpus: ids must be all text or all integers") from None


def _check_texts(argument: str, texts: Mapping[Any, Any]) -> None:
    for text_id, text in texts.items():
        # Models may accept other inputs than text, such as images.
        if isinstance(text, (NoneType, int, float)):
            raise ValueError(f"{argument}: {shown(text_id)}: must be a string; got {shown(text)}")


def _check_known(argument: str, by_query: Any, queries: Any, hint: str) -> None:
    unknown = [query for query in by_query if query not in queries]
    if unknown:
        raise ValueError(
            f"{argument}: query {shown(unknown[0])} is not in queries ({len(unknown)} such "
            f"queries); {hint}"
        )


def _given(**arguments: Any) -> dict[str, Any]:
    return {argument: value for argument, value in arguments.items() if value is not None}


def _candidates(
    candidates: Any, queries: Any, corpus: Any, references: Run
) -> dict[Any, dict[Any, None]]:
    """Return the documents to rank for every judged query, without duplicates."""
    _check_in_corpus("candidates", candidates, corpus)
    _check_known("candidates", candidates, queries, "ids are compared with their types")
    if not candidates.keys() & references:
        raise ValueError("candidates: no query of relevant_docs has any; give {query: ids}")
    return {query: dict.fromkeys(candidates[query]) for query in references if query in candidates}


def _kept(
    options: Options, documents: int, exclude: IdsByQuery, references: Mapping[Any, Any]
) -> tuple[int, IdsByQuery]:
    """Return how many of the documents to keep per query, and which ones at any rank.

    Judged documents count at any rank if they are in the condensed list or the ideal.
    """
    if None in options.cutoffs:
        return documents, {}
    depth = max(filter(None, options.cutoffs))
    # Excluded and ignored documents may be ranked above the others, and are then left out.
    depth += max(map(len, exclude.values()), default=0)
    depth += max(
        list(grades.values()).count(options.ignore_index) for grades in references.values()
    )
    if options.judged_only or options.ideal == "retrieved":
        # A judged document beyond the cutoff then moves up, or is in the ideal.
        return depth, references
    return depth, {}


def _check_mapping(argument: str, by_id: Any) -> None:
    if not isinstance(by_id, Mapping):
        raise ValueError(f"{argument} must be a mapping by ids; got {type(by_id).__name__}")
    check_query_ids(argument, by_id)


def _check_in_corpus(argument: str, by_query: Any, corpus: Mapping[Any, Any]) -> None:
    """Raise an error for documents, by query, that are not in the corpus, or are not ids."""
    _check_mapping(argument, by_query)
    for query, documents in by_query.items():
        if isinstance(documents, str) or not isinstance(documents, Collection):
            problem = f"must hold ids of documents; got {shown(documents)}"
            raise ValueError(f"{argument}: query {shown(query)}: {problem}")
        for document in documents:
            if document not in corpus:
                problem = f"query {shown(query)}, document {shown(document)} is not in corpus"
                raise ValueError(f"{argument}: {problem}; give its text there, or remove it")


def _reports(inputs: Inputs, options: Options, resampling: Resampling) -> Callable[[Run], Report]:
    """Return the function that reports on a run, after a report on the judgments themselves."""
    report_of = partial(_report_of, inputs, options, resampling)
    empty = {query: dict.fromkeys(grades, 0.0) for query, grades in inputs.references.items()}
    try:
        report_of(empty)  # errors in the judgments are raised here, before any training
    except ValueError as error:
        raise ValueError(worded(error, renamed({"references": "relevant_docs"}))) from None
    return report_of


def _report_of(inputs: Inputs, options: Options, resampling: Resampling, run: Run) -> Report:
    inputs = inputs._replace(predictions=run)
    # No warning if no document was judged, because all ids come from one corpus.
    return report_on(inputs, options=options, resampling=resampling, notify=lambda _: None)[0]


class NDCGEvaluator:
    """The report on the documents that a model ranks; `_evaluator_class` adds the base class.

    Of the last model, `run` is the ranking, `{query: {document: score}}`, and `report` the report
    on it.
    """

    prefix_name_to_metrics: Callable[..., Any]  # expected by the base class
    store_metrics_in_model_card_data: Callable[..., None]

    def __init__(
        self,
        search: Search,
        report_of: Callable[[Run], Report],
        name: str,
        write_csv: bool,
        primary: str,
        config: Mapping[str, Any],
    ) -> None:
        super().__init__()
        self.search, self.report_of, self.config = search, report_of, config
        self.name, self.write_csv, self.primary_metric = name, write_csv, primary
        words = ("nDCG_evaluation", NOT_IN_FILE_NAMES.sub("-", name), "results.csv")
        self.csv_file = "_".join(filter(None, words))
        self.run: Run | None = None
        self.report: Report | None = None
        self.prefix_name_to_metrics({}, name)

    def __reduce__(self) -> tuple[Any, ...]:
        """Support pickling: the evaluator goes to other processes with the model, in its card."""
        return _blank_evaluator, (), self.__dict__

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: int = -1, steps: int = -1
    ) -> dict[str, float]:
        """Return the results of a model."""
        run = self.search.run(model)
        self.run, self.report = run, self.report_of(run)
        values = self.report.flat()
        if output_path is not None and self.write_csv:
            self._write(output_path, {"epoch": epoch, "steps": steps, **values})
        metrics: dict[str, float] = self.prefix_name_to_metrics(values, self.name)
        self.store_metrics_in_model_card_data(model, metrics, epoch, steps)
        return metrics

    def _write(self, folder: str, row: Mapping[str, float]) -> None:
        """Append a row to the first numbered file that is new or has its columns."""
        os.makedirs(folder, exist_ok=True)
        stem = os.path.join(folder, self.csv_file.removesuffix(".csv"))
        path = f"{stem}.csv"
        for number in count(2):  # other evaluators may have the same name
            with open(path, "a+", encoding="utf-8", newline="") as file:
                file.seek(0)
                columns = next(csv.reader(file), None)
                if columns in (None, list(row)):
                    writer = csv.DictWriter(file, row)
                    if columns is None:
                        writer.writeheader()
                    writer.writerow(row)
                    return
            path = f"{stem}_{number}.csv"

    def get_config_dict(self) -> dict[str, Any]:
        """Return the signature of scores and the options of embeddings, for the model card."""
        return {**self.config}


@cache
def _evaluator_class() -> Callable[..., Any]:
    library, packages = "sentence-transformers, 6 or newer", '"sentence-transformers>=6"'
    module = "sentence_transformers.base.evaluation"
    evaluation = imported(module, "sentence_transformers_evaluator", library, packages)
    bases = (NDCGEvaluator, evaluation.BaseEvaluator)
    return type(NDCGEvaluator.__name__, bases, {"__doc__": NDCGEvaluator.__doc__})


def _blank_evaluator() -> Any:
    """Return an evaluator without attributes, for unpickling."""
    evaluator_class: Any = _evaluator_class()
    return evaluator_class.__new__(evaluator_class)
