"""Reports in JUnit's format, which CI systems read."""

from collections.abc import Sequence
from typing import NamedTuple
from xml.etree import ElementTree

from ..measure.messages import visible

FAILURE = "failure"  # a criterion of the gate that fails
ERROR = "error"  # the message of a gate that could not decide
PASSED = "system-out"


class Case(NamedTuple):
    """A test case."""

    name: str  # the measure, and the criterion if there are several
    result: str  # FAILURE, ERROR or PASSED
    message: str  # the verdict in one line
    text: str = ""  # the whole output, for a failure


def junit_of(cases: Sequence[Case]) -> str:
    """Return the report of a gate, with test cases by measure and criterion.

    >>> print(junit_of([Case("nDCG@10", FAILURE, "nDCG@10 dropped by 0.2: significant")]))
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuite name="ndcg gate" tests="1" failures="1" errors="0">
      <testcase classname="ndcg.gate" name="nDCG@10">
        <failure message="nDCG@10 dropped by 0.2: significant" />
      </testcase>
    </testsuite>
    """
    suite = ElementTree.Element("testsuite", name="ndcg gate", tests=str(len(cases)))
    results = [case.result for case in cases]
    for kind in (FAILURE, ERROR):
        suite.set(f"{kind}s", str(results.count(kind)))
    for case in cases:
        element = ElementTree.SubElement(suite, "testcase", classname="ndcg.gate", name=case.name)
        result = ElementTree.SubElement(element, case.result)
        # CI systems show the message of a failure, and of a success only its text.
        if case.result == PASSED:
            result.text = case.message
        else:
            result.set("message", visible(case.message))
            result.text = case.text
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suite, "unicode")
