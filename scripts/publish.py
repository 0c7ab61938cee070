"""Upload the tree of the Space, dist/space, to the Hub.

The token is the one that `hf auth login` has stored, or the environment variable HF_TOKEN.
"""

import argparse
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent / "dist" / "space"


def main() -> None:
    """Upload the files, or list them."""
    parser = argparse.ArgumentParser(description="Upload dist/space to a Space on the Hub.")
    parser.add_argument("space", help="user/nDCG")
    parser.add_argument("--dry-run", action="store_true", help="list what would be uploaded")
    arguments = parser.parse_args()
    user, slash, name = arguments.space.partition("/")
    if not user or not slash or not name or "/" in name:
        parser.error(f"the Space must be given as user/nDCG; got {arguments.space!r}")
    if not (TREE / f"{name}.py").is_file():
        parser.error(f"dist/space was not made for a Space of this name: make space NAME={name}")
    if arguments.dry_run:
        for path in sorted(filter(Path.is_file, TREE.rglob("*"))):
            name, size = path.relative_to(TREE).as_posix(), path.stat().st_size
            print(f"{name}  {size:,} bytes -> {arguments.space}")
        return
    from huggingface_hub import HfApi

    hub = HfApi()
    hub.create_repo(arguments.space, repo_type="space", space_sdk="gradio", exist_ok=True)
    done = hub.upload_folder(
        repo_id=arguments.space, repo_type="space", folder_path=TREE, delete_patterns="*.py"
    )
    print(done)


if __name__ == "__main__":
    main()
