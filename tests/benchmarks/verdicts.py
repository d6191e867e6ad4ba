"""Share of documents on which a validator has the verdict of the official artefacts, for XRechnung.

    .venv/bin/python -m tests.benchmarks.verdicts [--every 10]

The documents are the comparison cases: official examples and test instances, and variations of them, most of them
invalid. Official is the verdict of the XML schema and of the Schematron files of CEN and KoSIT together, with the
flags that these files state. A validator that lacks a layer cannot have the verdict on what only that layer rejects.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import einvoice
from tests.cases import corpus

LAYERS = ("en16931", "xrechnung")
EN16931 = ("validate", "--require", "xrechnung", "--format", "json")
"""Arguments of en16931-cli: XRechnung, whatever a document declares."""
BATCH = 200
"""Files of a call of a command."""

#: Prints for each file named on standard input whether verifyhash-einvoice finds it valid.
PEER_PROGRAM = """
import sys, einvoice
for line in sys.stdin:
    try:
        valid = einvoice.validate_bytes(open(line.strip(), "rb").read(), profile="xrechnung")["valid"]
    except Exception:
        valid = False
    print(int(valid), flush=True)
"""

Verdicts = Callable[[Sequence[Path]], Iterable[bool]]


def official(case: Mapping[str, Any], layers: Sequence[str] = LAYERS, *, schema: bool = True) -> bool:
    """Return whether these layers accept a case."""
    flags = [flag or "fatal" for layer in layers for _, flag, *_ in case["fired"][layer]]
    return (case["xsd"] or not schema) and "fatal" not in flags


def own(paths: Sequence[Path]) -> Iterable[bool]:
    """Yield the verdicts of einvoice, by the flags of the official files."""
    for path in paths:
        try:
            findings = einvoice.validate(path, profile="xrechnung", plausibility=False).findings
        except einvoice.UnreadableDocument:
            yield False
        else:
            yield not any(it.flag == "fatal" for it in findings if it.layer.startswith(("schema", *LAYERS)))


def of_verifyhash(python: Path) -> Verdicts:
    """Return the verdicts of verifyhash-einvoice, which that Python has."""

    def verdicts(paths: Sequence[Path]) -> Iterable[bool]:
        command, names = [python, "-c", PEER_PROGRAM], "\n".join(map(str, paths))
        done = subprocess.run(command, input=names, stdout=subprocess.PIPE, text=True, check=True, cwd=python.parent)
        return [line == "1" for line in done.stdout.split()]

    return verdicts


def of_command(command: Sequence[str], valid: Callable[[str], Iterable[bool]]) -> Verdicts:
    """Return the verdicts of a command that takes several files; `valid` reads its output."""

    def verdicts(paths: Sequence[Path]) -> Iterable[bool]:
        for start in range(0, len(paths), BATCH):
            part = list(map(str, paths[start : start + BATCH]))
            done = subprocess.run([*command, *part], stdout=subprocess.PIPE, text=True, check=False)
            found = list(valid(done.stdout))
            assert len(found) == len(part), f"{command[0]}: {len(found)} verdicts for {len(part)} files"
            yield from found

    return verdicts


def accepted(output: str) -> Iterable[bool]:
    """Yield the verdicts in a report of en16931-cli."""
    return (it["recommendation"].lower() == "accept" for it in json.loads(output))


def shares(validators: Mapping[str, Verdicts], folder: Path, every: int = 1) -> dict[str, float]:
    """Return the share of equal verdicts of each validator; empty if the cases are not there.

    Args:
        validators: the validators by name.
        folder: where the documents are written.
        every: one case in this number is validated.
    """
    cases = [it for it in corpus.cases(*corpus.BESIDE, every=every) if _is_complete(it[0])]
    if not cases:
        return {}
    folder.mkdir(exist_ok=True)
    paths = [folder / f"{number:06}.xml" for number in range(len(cases))]
    for path, (_, document) in zip(paths, cases, strict=True):
        path.write_bytes(document)
    expected = [official(case) for case, _ in cases]
    sheet = [official(case, ["en16931"], schema=False) for case, _ in cases]
    found = {name: list(verdicts(paths)) for name, verdicts in validators.items()} | {"official (CEN)": sheet}
    return {name: sum(map(bool.__eq__, verdicts, expected)) / len(cases) for name, verdicts in found.items()}


def _is_complete(case: Mapping[str, Any]) -> bool:
    """Return whether every official file has an answer: some end with an error."""
    return all(isinstance(case["fired"].get(layer), list) for layer in LAYERS)


def main() -> None:
    """Print the share of einvoice, of the stylesheet alone, and of the Python given for verifyhash-einvoice."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--every", type=int, default=1, help="validate one case in this number")
    parser.add_argument("--en16931", help="the command of en16931-cli")
    parser.add_argument("--verifyhash", type=Path, help="a Python that has verifyhash-einvoice")
    options = parser.parse_args()
    validators: dict[str, Verdicts] = {"einvoice": own}
    if options.verifyhash:
        validators["verifyhash"] = of_verifyhash(options.verifyhash)
    if options.en16931:
        validators["en16931-cli"] = of_command([options.en16931, *EN16931], accepted)
    with tempfile.TemporaryDirectory() as folder:
        for name, share in shares(validators, Path(folder), options.every).items():
            print(f"{name}: {share:.2%}")


if __name__ == "__main__":
    main()
