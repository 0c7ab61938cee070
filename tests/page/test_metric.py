"""The metric is found by its class, whatever its file is called."""

from pathlib import Path
from typing import Any

import pytest

from page.metric import metric_file

MENTIONS: dict[str, Any] = {
    "a.py": 'TEXT = "class NDCG(evaluate.Metric):"\n',
    "b.py": "# class NDCG(evaluate.Metric):\n",
    "c.py": "class Metrics:\n    class NDCG(int):\n        pass\n",
    "d.py": "class NDCGAtK(int):\n    pass\n",
}


@pytest.mark.parametrize("name", ["ndcg.py", "0.py", "zz.py"])
def test_the_metric_is_the_file_that_defines_its_class(tmp_path: Path, name: str) -> None:
    for other, text in MENTIONS.items():
        (tmp_path / other).write_text(text)
    with pytest.raises(RuntimeError, match="one file that defines the class NDCG; it holds 0"):
        metric_file(tmp_path)
    (tmp_path / name).write_text("class NDCG(object):\n    pass\n")
    assert metric_file(tmp_path) == tmp_path / name
    (tmp_path / "copy.py").write_text("class NDCG:\n    pass\n")
    with pytest.raises(RuntimeError, match="it holds 2"):
        metric_file(tmp_path)
