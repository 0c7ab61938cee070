"""The metric as a sentence-transformers evaluator, for bi-encoders, sparse encoders and rerankers.

A model ranks the documents of each query, and the scores come from a report on this run. The corpus
is encoded one chunk at a time, and for each query only the documents that may affect the score are
kept.
"""

import csv
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache, partial
from itertools import count
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Unpack

import numpy as np

from ..inputs.ids import check_ids
from ..inputs.reading import Inputs
from ..measure.messages import missing_library, renamed, shown, worded
from ..measure.options import Cutoffs, Options, QueryOptions
from ..statistics.measured import Resampling
from ..statistics.report import Report, report_on

if TYPE_CHECKING:
    from torch import Tensor

Run = dict[Any, dict[Any, float]]

NOT_IN_FILE_NAMES = re.compile(r'[\\/:*?"<>|\x00-\x1f]')  # on any system
TIED = 1000  # the most documents per query that are kept because they tie with the last one


class Calls(NamedTuple):
    """The arguments for calling a model and its similarity."""

    query: dict[str, Any]  # the model's arguments for queries and for pairs
    document: dict[str, Any]  # the model's arguments for documents
    embedding: dict[str, Any]  # further arguments of embedding models, for queries and documents
    chunk: int  # the number of documents, or pairs, that are encoded and scored at a time
    # a function of the embeddings of queries and of documents; None for the model's own
    score_function: "Callable[[Any, Any], Tensor] | None"


class Search:
    """Rank a corpus for each query with a model."""

    def __init__(
        self,
        queries: Mapping[Any, Any],
        corpus: Mapping[Any, Any],
        candidates: Mapping[Any, Collection[Any]] | None,
        depth: int | None,
        judged: Mapping[Any, Collection[Any]] | None,
        score_dtype: str,
        score_order: str,
        calls: Calls,
    ) -> None:
        """Store the queries and the documents to rank: the candidates of each query, or the whole corpus.

        For each query `depth` documents are kept, or all, and the `judged` ones at any rank. Scores
        are compared in `score_dtype`, in which documents tie.
        """
        self.queries, self.corpus, self.candidates, self.calls = queries, corpus, candidates, calls
        self.judged, self.score_dtype = judged, score_dtype
        # with it, the highest score ranks first
        self.sign = {"descending": 1, "ascending": -1}[score_order]
        ranked = (
            corpus
            if candidates is None
            else {each for of_query in candidates.values() for each in of_query}
        )
        try:
            self.documents = sorted(ranked)
        except TypeError:
            raise ValueError("corpus: ids must be all text or all integers") from None
        self.depth = len(self.documents) if depth is None else depth

    def run(self, model: Any) -> Run:
        """Return the documents of each query with their scores, the best first and equal ones by ascending ids."""
        from sentence_transformers import CrossEncoder

        run = self._reranked(model) if isinstance(model, CrossEncoder) else self._retrieved(model)
        return {
            query: {each: self.sign * score for each, score in _ranked(run[query])} for query in run
        }

    def _reranked(self, model: Any) -> Run:
        if self.candidates is None:
            hint = "give {query: ids}, such as the run of a retriever's evaluator, evaluator.run"
            raise ValueError(f"candidates are missing, and a reranker needs them; {hint}")
        pairs = [(query, document) for query in self.queries for document in self.candidates[query]]
        run: Run = {query: {} for query in self.queries}
        for start in range(0, len(pairs), self.calls.chunk):
            chunk = pairs[start : start + self.calls.chunk]
            texts = [(self.queries[query], self.corpus[document]) for query, document in chunk]
            scores = np.asarray(model.predict(texts, **self.calls.query))
            if scores.ndim > 1:
                problem = f"gives {scores.shape[1]} scores for a pair, but a reranker gives one"
                raise ValueError(f"model: {problem}; make it with num_labels=1")
            for (query, document), score in zip(chunk, scores.tolist(), strict=True):
                run[query][document] = self.sign * score
        return run

    def _retrieved(self, model: Any) -> Run:
        import torch

        calls = self.calls
        score_function = calls.score_function or model.similarity
        queries = model.encode_query(list(self.queries.values()), **calls.query, **calls.embedding)
        scores, places = (
            torch.empty(len(self.queries), 0),
            torch.empty(len(self.queries), 0, dtype=torch.int64),
        )
        run: Run = {query: {} for query in self.queries}
        for start in range(0, len(self.documents), calls.chunk):
            texts = [self.corpus[each] for each in self.documents[start : start + calls.chunk]]
            similarity = score_function(
                queries, model.encode_document(texts, **calls.document, **calls.embedding)
            )
            shape = (len(self.queries), len(texts))
            if not isinstance(similarity, torch.Tensor) or similarity.shape != shape:
                got = (
                    tuple(similarity.shape)
                    if isinstance(similarity, torch.Tensor)
                    else type(similarity).__name__
                )
                problem = f"must return a tensor of queries and documents, here of shape {shape}; got {got}"
                raise ValueError(f"score_function: {problem}")
            similarity = similarity if similarity.is_floating_point() else similarity.double()
            similarity = self._of_candidates(similarity if self.sign > 0 else -similarity, start)
            for query, row, judged in self._rows(self.judged, start, len(texts)):
                values = similarity[row, judged].tolist()
                run[query] |= {
                    self.documents[start + at]: score
                    for at, score in zip(judged, values, strict=True)
                }
            similarity, columns = _highest_columns(similarity, self.depth, self.score_dtype)
            both = torch.cat([scores.to(similarity), similarity], dim=1)
            scores, order = _highest_columns(both, self.depth, self.score_dtype)
            places = torch.cat([places.to(columns), columns + start], dim=1).gather(1, order)
        for query, *best in zip(self.queries, scores.tolist(), places.tolist(), strict=True):
            run[query] = {self.documents[at]: score for score, at in zip(*best, strict=True)} | run[
                query
            ]
        return run

    def _of_candidates(self, scores: "Tensor", start: int) -> "Tensor":
        """Return the scores of a chunk, -inf for documents that are not candidates of the query."""
        if self.candidates is None:
            return scores
        kept = scores.new_full(scores.shape, -np.inf)
        for _, row, columns in self._rows(self.candidates, start, scores.shape[1]):
            kept[row, columns] = scores[row, columns]
        return kept

    def _rows(
        self, of_queries: Mapping[Any, Collection[Any]] | None, start: int, width: int
    ) -> Iterator[tuple[Any, int, list[int]]]:
        """Yield each query with documents in a chunk, its row in the scores, and their columns."""
        if of_queries is None:
            return
        place = {document: at for at, document in enumerate(self.documents[start : start + width])}
        for row, query in enumerate(self.queries):
            if columns := [place[document] for document in of_queries[query] if document in place]:
                yield query, row, columns


def _ranked(documents: Mapping[Any, float]) -> list[tuple[Any, float]]:
    """Return retrieved documents with their scores, the highest first and equal ones by ascending ids."""
    retrieved = ((document, score) for document, score in documents.items() if score != -np.inf)
    return sorted(retrieved, key=lambda each: (-each[1], each[0]))


def _highest_columns(scores: "Tensor", k: int, score_dtype: str) -> "tuple[Tensor, Tensor]":
    """Return the k highest scores of each row and their columns, equal scores in the order of the columns.

    Up to `TIED` more scores are returned if they tie with the k-th in the type in which scores are
    compared, because they share its rank. Shorter rows are padded with -inf.
    """
    import torch

    k = min(k, scores.shape[1])
    compared = scores if score_dtype == "given" else scores.to(getattr(torch, score_dtype))
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
    candidates: Mapping[Any, Collection[Any]] | None = None,
    exclude: Mapping[Any, Collection[Any]] | None = None,
    sample_weight: Any = None,
    by: Any = None,
    confidence: float = 0.95,
    name: str = "",
    batch_size: int = 32,
    corpus_chunk_size: int = 50_000,
    score_function: "Callable[[Any, Any], Tensor] | Literal['cosine', 'dot', 'euclidean', "
    "'manhattan'] | None" = None,
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
    """Return a sentence-transformers evaluator, for `evaluator=` of its trainers or to be called with a model.

    The model is a `SentenceTransformer` or a `SparseEncoder`, which rank the corpus, or a
    `CrossEncoder`, which reranks the `candidates`. A call returns floats by name: `nDCG@10`, the
    ends of its interval as `nDCG@10/low` and `nDCG@10/high`, and `nDCG@10/slice=en` for each slice.
    The first name is `primary_metric`. The evaluator keeps the `report` and the `run`, `{query:
    {document: score}}`, of its last call. The scores equal those of `compute` on the whole ranking
    of each query: in addition to its k best documents, the run contains up to 1,000 documents that
    tie with the last of them (the lowest ids first) and, if `judged_only` or `ideal="retrieved"` is
    set, all judged documents.

    Memory holds only the embeddings of the queries and of one chunk of the corpus, queries × (chunk
    + k) scores, and these documents of each query; with `k=None`, all documents.

    Args:
        queries: the text of each query, by its id.
        corpus: the text of each document, by its id.
        relevant_docs: the relevance of documents, `{query: {document: grade}}`, or `{query: ids}`,
            with relevance 1. Queries that are not in it are skipped.
        k: the cutoff or cutoffs; None for the whole list, or if all `measures` have cutoffs.
        candidates: the documents to rank for each query, `{query: ids}`, such as a `run`; None for
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
        query_prompt: a prefix of each query, or of each pair in a reranker.
        query_prompt_name: the name of such a prompt in the model.
        corpus_prompt: a prefix of each document.
        corpus_prompt_name: the name of such a prompt in the model.
        show_progress_bar: show the model's progress bar for each chunk.
        write_csv: append the results to a file in the folder that a call, or the trainer, names.
        **options: the options of `compute`, except `use_aggregator` and `engine`.

    Raises:
        ValueError: as in `report`; or an id is not in `queries` or `corpus`.
        ImportError: sentence-transformers or SciPy is missing.
    """
    parsed = Options.of_method(sentence_transformers_evaluator, k, options)
    resampling = Resampling.parse(confidence)
    evaluator_class = _evaluator_class()
    references = _judgments(queries, corpus, relevant_docs)
    if exclude is not None:
        _check_mapping("exclude", exclude)
    ranked = None if candidates is None else _candidates(candidates, queries, corpus, references)
    embedding = _given(truncate_dim=truncate_dim, max_active_dims=max_active_dims)
    _check_settings(
        name, {"corpus_chunk_size": corpus_chunk_size, "batch_size": batch_size, **embedding}
    )
    prompts = _given(query_prompt=query_prompt, query_prompt_name=query_prompt_name)
    prompts |= _given(corpus_prompt=corpus_prompt, corpus_prompt_name=corpus_prompt_name)
    shared = {"batch_size": batch_size, "show_progress_bar": show_progress_bar}
    calls = Calls(
        query={**shared, "prompt": query_prompt, "prompt_name": query_prompt_name},
        document={**shared, "prompt": corpus_prompt, "prompt_name": corpus_prompt_name},
        embedding={"convert_to_tensor": True, **embedding},
        chunk=corpus_chunk_size,
        score_function=_similarity(score_function),
    )
    inputs = Inputs(None, references, exclude=exclude, sample_weight=sample_weight, by=by)
    report_of = _reports(inputs, parsed, resampling)
    texts = {query: queries[query] for query in (references if ranked is None else ranked)}
    kept = _kept(parsed, exclude or {}, references)
    search = Search(texts, corpus, ranked, *kept, parsed.score_dtype, parsed.score_order, calls)
    return evaluator_class(search, report_of, name, write_csv, parsed.names[0], embedding | prompts)


def _judgments(queries: Any, corpus: Any, relevant_docs: Any) -> Run:
    """Return the grades of each query's documents; ids without grades have the grade 1."""
    for argument, side in {
        "queries": queries,
        "corpus": corpus,
        "relevant_docs": relevant_docs,
    }.items():
        _check_mapping(argument, side)
        if not side:
            raise ValueError(f"{argument} is empty; give at least one entry")
    _check_in_corpus("relevant_docs", relevant_docs, corpus)
    if unknown := [query for query in relevant_docs if query not in queries]:
        problem = f"query {shown(unknown[0])} is not in queries ({len(unknown)} such queries)"
        raise ValueError(f"relevant_docs: {problem}; give its text, or remove it")
    for argument, texts in {"queries": queries, "corpus": corpus}.items():
        for each, text in texts.items():
            if text is None or isinstance(text, (int, float)):
                raise ValueError(f"{argument}: {shown(each)}: must be a string; got {shown(text)}")
    return {
        query: dict(each) if isinstance(each, Mapping) else dict.fromkeys(each, 1)
        for query, each in relevant_docs.items()
    }


def _given(**arguments: Any) -> dict[str, Any]:
    """Return the arguments that are set."""
    return {argument: value for argument, value in arguments.items() if value is not None}


def _check_settings(name: Any, sizes: Mapping[str, Any]) -> None:
    """Raise an error unless the name is a text and all sizes are positive integers."""
    if not isinstance(name, str):
        raise ValueError(f"name must be a string; got {shown(name)}")
    for argument, size in sizes.items():
        if not isinstance(size, Integral) or isinstance(size, bool) or size < 1:
            raise ValueError(f"{argument} must be a positive integer; got {shown(size)}")


def _similarity(
    score_function: "Callable[[Any, Any], Tensor] | str | None",
) -> "Callable[[Any, Any], Tensor] | None":
    """Return the function that sentence-transformers has under a name, and any other value unchanged."""
    if not isinstance(score_function, str):
        return score_function
    from sentence_transformers import SimilarityFunction

    function: Callable[[Any, Any], Tensor] = SimilarityFunction.to_similarity_fn(score_function)
    return function


def _candidates(
    candidates: Any, queries: Any, corpus: Any, references: Run
) -> dict[Any, dict[Any, None]]:
    """Return the documents to rank for each judged query, without duplicates."""
    _check_in_corpus("candidates", candidates, corpus)
    if unknown := [query for query in candidates if query not in queries]:
        problem = f"query {shown(unknown[0])} is not in queries ({len(unknown)} such queries)"
        raise ValueError(f"candidates: {problem}; ids are compared with their types")
    if not candidates.keys() & references:
        raise ValueError("candidates: no query of relevant_docs has any; give {query: ids}")
    return {query: dict.fromkeys(candidates[query]) for query in references if query in candidates}


def _kept(
    options: Options, exclude: Mapping[Any, Collection[Any]], references: Run
) -> tuple[int | None, Mapping[Any, Collection[Any]] | None]:
    """Return the number of documents to keep per query, None for all, and the documents to keep at any rank.

    Excluded and ignored documents have no rank. Judged documents count at any rank if they are in
    the condensed list or the ideal.
    """
    if None in options.cutoffs:
        return None, None
    depth = max(each for each in options.cutoffs if each is not None) + max(
        map(len, exclude.values()), default=0
    )
    if options.ignore_index is not None:
        depth += max(
            list(each.values()).count(options.ignore_index) for each in references.values()
        )
    return depth, references if options.judged_only or options.ideal == "retrieved" else None


def _check_mapping(argument: str, given: Any) -> None:
    """Raise an error for a value that is not a mapping of ids."""
    if not isinstance(given, Mapping):
        holds = "text" if argument in ("queries", "corpus") else "ids of documents"
        raise ValueError(
            f"{argument} must be a mapping of ids to {holds}; got {type(given).__name__}"
        )
    check_ids(argument, given, nested=False)


def _check_in_corpus(argument: str, given: Any, corpus: Mapping[Any, Any]) -> None:
    """Raise an error for documents, by query, that are not in the corpus, or are not ids."""
    _check_mapping(argument, given)
    for query, documents in given.items():
        if isinstance(documents, str) or not isinstance(documents, Collection):
            raise ValueError(
                f"{argument}: query {shown(query)}: must hold ids of documents; got {shown(documents)}"
            )
        for document in documents:
            if document not in corpus:
                problem = f"query {shown(query)}, document {shown(document)} is not in corpus"
                raise ValueError(f"{argument}: {problem}; give its text there, or remove it")


def _reports(inputs: Inputs, options: Options, resampling: Resampling) -> Callable[[Run], Report]:
    """Return the function that reports on a run. Errors in the judgments are raised here, before any training."""
    report_of = partial(_report_of, inputs, options, resampling)
    try:
        report_of({query: dict.fromkeys(each, 0.0) for query, each in inputs.references.items()})
    except ValueError as error:
        raise ValueError(worded(error, renamed({"references": "relevant_docs"}))) from None
    return report_of


def _report_of(inputs: Inputs, options: Options, resampling: Resampling, run: Run) -> Report:
    """Return the report on a run. It does not warn if no document was judged, because all ids come from one corpus."""
    inputs = inputs._replace(predictions=run)
    return report_on(inputs, options=options, resampling=resampling, notify=lambda _: None)


class NDCGEvaluator:
    """The report on the documents that a model retrieves or reranks; `_evaluator_class` adds the base class.

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
        words = "nDCG_evaluation", NOT_IN_FILE_NAMES.sub("-", name), "results.csv"
        self.csv_file = "_".join(filter(None, words))
        self.run: Run | None = None
        self.report: Report | None = None
        self.prefix_name_to_metrics({}, name)

    def __reduce__(self) -> tuple[Any, ...]:
        """Support pickling: the evaluator is sent to other processes with the model, whose card has its results."""
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
        """Append a row to the first numbered file with its columns, because other evaluators may have the same name."""
        os.makedirs(folder, exist_ok=True)
        stem, extension = os.path.splitext(os.path.join(folder, self.csv_file))
        for number in count(1):
            path = stem + f"_{number}" * (number > 1) + extension
            with open(path, "a+", encoding="utf-8", newline="") as file:
                file.seek(0)
                columns = next(csv.reader(file), None)
                if columns in (None, list(row)):
                    writer = csv.DictWriter(file, row)
                    if columns is None:
                        writer.writeheader()
                    writer.writerow(row)
                    return

    def get_config_dict(self) -> dict[str, Any]:
        """Return the signature of the scores and the options of the embeddings, for the model card."""
        signature = {} if self.report is None else {"signature": self.report.signature}
        return {**signature, **self.config}


@cache
def _evaluator_class() -> Callable[..., Any]:
    """Return the class of evaluators, with the base class of sentence-transformers."""
    try:
        from sentence_transformers.base.evaluation import BaseEvaluator
    except ImportError:
        library, packages = "sentence-transformers, 6 or newer", '"sentence-transformers>=6"'
        raise missing_library("sentence_transformers_evaluator", library, packages) from None
    return type(
        NDCGEvaluator.__name__, (NDCGEvaluator, BaseEvaluator), {"__doc__": NDCGEvaluator.__doc__}
    )


def _blank_evaluator() -> Any:
    """Return an evaluator without attributes, for unpickling."""
    made: Any = _evaluator_class()
    return made.__new__(made)
