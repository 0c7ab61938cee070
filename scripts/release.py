"""Build the sdist and the wheel, check both, install from each, and print the files to upload.

Nothing is uploaded. `--unreleased` allows a changelog with a newest version that has no date yet.
"""

import argparse
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
ARTIFACTS = ROOT / "dist" / "release"
PAGE = ROOT / "docs" / "package.md"
DOCTEST = (
    "import doctest, sys; sys.exit(doctest.testfile(sys.argv[1], module_relative=False).failed)"
)


def main() -> None:
    """Build and check a release."""
    parser = argparse.ArgumentParser(description="Build and check the artifacts of a release.")
    parser.add_argument(
        "--unreleased", action="store_true", help="allow a version without a date in CHANGELOG.md"
    )
    arguments = parser.parse_args()
    version = version_of_release(arguments.unreleased)
    shutil.rmtree(ARTIFACTS, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", str(ARTIFACTS), str(ROOT))
    artifacts = sorted(ARTIFACTS.iterdir())
    run(sys.executable, "-m", "twine", "check", "--strict", *map(str, artifacts))
    for artifact in artifacts:
        if version not in artifact.name:
            sys.exit(f"{artifact.name} is not of version {version}")
        check_installed(artifact)
    print("Ready to upload:")
    for artifact in artifacts:
        print(f"  {artifact.relative_to(ROOT)}  {artifact.stat().st_size:,} bytes")
    print(f"  twine upload {ARTIFACTS.relative_to(ROOT)}/*")
    print("  make publish SPACE=user/nDCG")
    print(f"  git tag v{version}")


def version_of_release(unreleased: bool) -> str:
    """Return the version of the code, the citation and the changelog; stop if they differ."""
    code = (ROOT / "ndcg" / "measure" / "options.py").read_text("utf-8")
    version = str(re.findall(r'^__version__ = "(.+)"$', code, re.MULTILINE)[0])
    heading = re.search(
        r"^## \[(.+?)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE
    )
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    if heading is None or cited is None or {heading[1], cited[1]} != {version}:
        sys.exit(f"CHANGELOG.md and CITATION.cff must name version {version}, which the code has")
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", heading[2]) and not unreleased:
        sys.exit(
            f"CHANGELOG.md gives version {version} no date but {heading[2]!r}; write the day of "
            "the release"
        )
    return version


def check_installed(artifact: Path) -> None:
    """Install an artifact in a new environment, and run the blocks of the package's page there."""
    with TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder) / "bin" / "python")
        run(python, "-m", "pip", "install", "--quiet", f"{artifact}[evaluate]")
        run(python, "-c", DOCTEST, str(PAGE), cwd=folder)


def run(*command: str, cwd: str | Path = ROOT) -> None:
    """Run a command, and stop if it fails."""
    subprocess.run(command, cwd=cwd, check=True)


if __name__ == "__main__":
    main()
