"""Builds the reference as HTML: `.ci/docs/build [FOLDER]` (default: build/docs). Warnings are errors.

Three kinds of pages: those of this folder; the Markdown files of the project that they refer to, taken from where they
are; and pages generated from the code: the public API, exceptions, commands, HTTP problems, functions and terms of the
rule language. All are collected in a temporary folder, at the same paths as in the project, so that links hold.
"""

import argparse
import ast
import functools
import gc
import importlib
import inspect
import os
import pkgutil
import re
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from sphinx.cmd.build import build_main
from sphinx.pycode import ModuleAnalyzer

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT), str(HERE)]

from conf import to_restructured  # noqa: E402

import appliance  # noqa: E402
import appliance.__main__ as server_command  # noqa: E402
import einvoice  # noqa: E402
from appliance.contract.problems import ProblemType  # noqa: E402
from einvoice import cli, errors  # noqa: E402
from einvoice.localization import Messages  # noqa: E402
from einvoice.model import terms as business_terms  # noqa: E402
from einvoice.model.group import Group  # noqa: E402
from einvoice.rulebook.functions import registry  # noqa: E402

INCLUDED = ("appliance/README.md", "einvoice/docs/*.md", "rules/**/*.md")
"""Files of the project that are pages."""
_GENERAL = "Group, Sequence, BaseModel"
"""Classes whose members are not repeated in the description of each class that inherits them."""


# ---------------------------------------------------------------- text


def page(title: str, *parts: str) -> str:
    """Return a Markdown page."""
    return "\n\n".join((f"# {title}", *parts)) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; line breaks and bars in cells are escaped."""
    lines = [head, ["---"] * len(head), *rows]
    cells = ([" ".join(cell.split()).replace("|", r"\|") for cell in row] for row in lines)
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def directive(text: str) -> str:
    """Return reStructuredText, such as an autodoc directive, for a Markdown page."""
    return f"```{{eval-rst}}\n{text}\n```"


def documented(name: str, kind: str, docstring: str) -> str:
    """Return a directive that describes an object with a docstring."""
    lines = docstring.splitlines()
    to_restructured(lines)
    return directive("\n".join([f".. py:{kind}:: {name}", "", *(f"   {line}".rstrip() for line in lines)]))


def first_sentence(documented: Any) -> str:
    """Return the first paragraph of an object's docstring, as Markdown."""
    return (inspect.getdoc(documented) or "").partition("\n\n")[0].replace("``", "`")


# ---------------------------------------------------------------- the public API


def kind_of(value: Any) -> str:
    """Return the kind of a public object: Functions, Classes, Exceptions or Values."""
    if isinstance(value, type):
        return "Exceptions" if issubclass(value, BaseException) else "Classes"
    return "Functions" if inspect.isroutine(value) else "Values"


def api_pages() -> Iterator[tuple[str, str]]:
    """Yield the path and text of the pages about `einvoice.__all__`: one per name, and an overview."""
    public = {name: getattr(einvoice, name) for name in einvoice.__all__}
    parts = [directive(".. automodule:: einvoice\n   :no-members:")]
    for kind in ("Functions", "Classes", "Values", "Exceptions"):
        names = [name for name, value in public.items() if kind_of(value) == kind]
        rows = [(f"[`{name}`]({name}.md)", value_doc(name).partition("\n\n")[0]) for name in names]
        parts += [f"## {kind}", table(("name", "description"), rows)]
    yield "python/index.md", page("Python", *parts, toctree([*sorted(public, key=str.lower), "types", "localization"]))
    for name, value in public.items():
        yield f"python/{name}.md", page(f"`{name}`", api_directive(name, value))
    types = sorted(referenced_types(public.values()), key=lambda cls: (cls.__module__, cls.__name__))
    text = "Classes of the values that the public functions accept and return. They are not imported by name."
    yield "python/types.md", page("Types of values", text, *(automatic("class", cls) for cls in types))
    localization = ".. automodule:: einvoice.localization\n   :members: languages, is_available"
    yield "python/localization.md", page("`einvoice.localization`", directive(localization))


def api_directive(name: str, value: Any) -> str:
    """Return the description of a public name."""
    kind = kind_of(value)
    if kind == "Values":
        cls = type(value)
        is_ours = cls.__module__.startswith("einvoice.")
        members = f".. autoclass:: {cls.__module__}.{cls.__name__}\n   :members:\n   :special-members: __call__"
        text = f"The only instance of `{cls.__module__}.{cls.__name__}`." if is_ours else value_doc(name)
        return "\n\n".join((documented(f"einvoice.{name}", "data", text), *([directive(members)] if is_ours else [])))
    if kind == "Functions":
        return directive(f".. autofunction:: einvoice.{name}")
    inherits = kind == "Classes" and any(base.__module__.startswith("einvoice.") for base in value.__mro__[1:])
    inherited = f"\n   :inherited-members: {_GENERAL}" if inherits else ""
    role = "autoexception" if kind == "Exceptions" else "autoclass"
    return directive(f".. {role}:: einvoice.{name}\n   :members:{inherited}")


def value_doc(name: str) -> str:
    """Return the docstring of a public name; that of a constant is the comment above it."""
    value = getattr(einvoice, name)
    if kind_of(value) != "Values":
        return inspect.getdoc(value) or ""
    for module in list(sys.modules.values()):
        if module.__name__.startswith("einvoice.") and vars(module).get(name) is value:
            comments = ModuleAnalyzer.for_module(module.__name__).find_attr_docs()
            if comment := comments.get(("", name)):
                return "\n".join(comment).strip()
    return inspect.getdoc(type(value)) or ""


def automatic(kind: str, documented: Any) -> str:
    """Return the directive that describes a class or exception with its members."""
    return directive(f".. auto{kind}:: {documented.__module__}.{documented.__qualname__}\n   :members:")


def toctree(names: Iterable[str]) -> str:
    """Return a hidden table of contents."""
    return "\n".join(["```{toctree}", ":hidden:", "", *names, "```"])


# ---------------------------------------------------------------- types of arguments and results


def referenced_types(public: Iterable[Any]) -> set[type]:
    """Return the classes of this package that annotations of public members name, directly or through others."""
    found: set[type] = set()
    public = list(public)
    known = {value if isinstance(value, type) else type(value) for value in public}
    queue = [*public, *(value for value in known if value.__module__.startswith("einvoice."))]
    while queue:
        for cls in named_types(queue.pop()):
            if cls not in known and cls not in found and is_described(cls):
                found.add(cls)
                queue.append(cls)
    return found


def is_described(cls: type) -> bool:
    """Return whether a class has a place among the types: exceptions and the groups of the invoice have their own."""
    ours = cls.__module__.startswith("einvoice.") and not cls.__name__.startswith("_")
    return ours and cls.__module__ != errors.__name__ and not issubclass(cls, BaseException | Group)


def named_types(described: Any) -> Iterator[type]:
    """Yield the classes that the annotations of a function, or of the public members of a class, name."""
    members = vars(described).items() if isinstance(described, type) else [("", described)]
    for name, member in members:
        function = getattr(member, "fget", None) or getattr(member, "func", None) or getattr(member, "__func__", member)
        if not name.startswith("_") and inspect.isfunction(function):
            for annotation in function.__annotations__.values():
                yield from resolved(annotation, function.__module__)
    if isinstance(described, type):
        for name, annotation in vars(described).get("__annotations__", {}).items():
            if not name.startswith("_"):
                yield from resolved(annotation, described.__module__)


def resolved(annotation: Any, module: str) -> Iterator[type]:
    """Yield the classes in an annotation, which is text or an object, in a module."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    names = {**checked_imports(sys.modules[module]), **vars(sys.modules[module])}
    for word in re.findall(r"[A-Za-z_][\w.]*", text):
        value = names.get(word.rpartition(".")[2]) or names.get(word)
        if isinstance(value, type):
            yield value


@functools.cache
def checked_imports(module: ModuleType) -> dict[str, Any]:
    """Return what a module imports from this package for type checkers only."""
    imported = {}
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for line in node.body:
                if isinstance(line, ast.ImportFrom) and (line.module or "").startswith("einvoice"):
                    source = importlib.import_module(line.module or "")
                    imported |= {name.asname or name.name: getattr(source, name.name, None) for name in line.names}
    return imported


# ---------------------------------------------------------------- exceptions, problems


def subclasses(cls: type) -> Iterator[type]:
    """Yield the subclasses of a class, at any depth."""
    for subclass in cls.__subclasses__():
        yield subclass
        yield from subclasses(subclass)


def exceptions_page() -> str:
    """Return the page about exceptions: the tree, codes of unreadable files, and the others."""
    unreadable = list(subclasses(errors.UnreadableDocument))
    codes = [(f"`{cls.code}`", f"`{cls.__name__}`", f"`{cls.problem}`", first_sentence(cls)) for cls in unreadable]
    others = [
        cls
        for cls in vars(errors).values()
        if isinstance(cls, type) and cls.__module__ == errors.__name__ and not cls.__name__.startswith("_")
        if cls not in unreadable and cls.__name__ not in einvoice.__all__
    ]
    return page(
        "Exceptions",
        directive(".. automodule:: einvoice.errors\n   :no-members:"),
        "## Codes of unreadable files",
        "Subclasses of `UnreadableDocument`. `code` is that of the catalog, `problem` that of the HTTP problem.",
        table(("code", "exception", "problem", "description"), sorted(codes)),
        "## Further classes",
        *(automatic("exception" if issubclass(cls, BaseException) else "class", cls) for cls in others),
    )


def problem_types() -> set[ProblemType]:
    """Return the problem types that the modules of the appliance declare."""
    found = set()
    for info in pkgutil.walk_packages(appliance.__path__, "appliance."):
        if not info.name.endswith("__main__"):
            module = importlib.import_module(info.name)
            found |= {value for value in vars(module).values() if isinstance(value, ProblemType)}
    return found


def problems_page() -> str:
    """Return the page about the error responses of the HTTP service."""
    details = Messages("appliance", "problem_details")["en"]
    declared = {
        (f"`{it.code}`", str(it.status), it.title("en"), shown(details[it.message or it.code]))
        for it in problem_types()
    }
    files = {(f"`{cls.problem}`", "422", f"`{cls.code}`", first_sentence(cls))
             for cls in subclasses(errors.UnreadableDocument)}  # fmt: skip
    return page(
        "HTTP problems",
        "Errors are `application/problem+json` (RFC 9457) with `type`, `title`, `status`, `detail` and `code`. `code` "
        "is stable; titles and details are in the language of the request. Findings in a document are no errors: the "
        "response is 200 with `is_valid` false. The server describes all requests and responses at `/docs`.",
        "## Requests",
        table(("code", "status", "title", "detail"), sorted(declared)),
        "## Files",
        "The file cannot be read as an invoice. `rule` has the code of the catalog, `line` and `column` the position.",
        table(("code", "status", "`rule`", "description"), sorted(files)),
    )


def shown(message: str) -> str:
    """Return a message with its placeholders as code."""
    return re.sub(r"\{(\w+)\}", r"`{\1}`", message)


# ---------------------------------------------------------------- commands


def commands_page() -> str:
    """Return the page with the help of both commands and all of their subcommands."""
    os.environ["COLUMNS"] = "110"
    parts = []
    for parser in (cli._parser([]), server_command._parser()):
        for name, text in helps(parser):
            parts += [f"{'##' if ' ' not in name else '###'} {name}", f"```text\n{text.rstrip()}\n```"]
    return page("Command line", *parts)


def helps(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    """Yield the name and help of a command and, below it, of each subcommand."""
    yield parser.prog, parser.format_help()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for subparser in dict.fromkeys(action.choices.values()):
                yield from helps(subparser)


# ---------------------------------------------------------------- the rule language


def functions_page() -> str:
    """Return the page about the functions that a rule may call, by module."""
    by_module: dict[str, list[tuple[str, Callable[..., Any]]]] = {}
    for name, function in registry.CALLABLE.items():
        by_module.setdefault(function.__module__, []).append((name, function))
    parts = []
    for module, functions in by_module.items():
        parts += [f"## {first_sentence(sys.modules[module]).partition('.')[0].strip('`')}"]
        for name, function in sorted(functions):
            signature = inspect.signature(function)
            parameters = [it.replace(annotation=it.empty) for it in signature.parameters.values()]
            call = f"{name}{signature.replace(parameters=parameters, return_annotation=signature.empty)}"
            parts.append(documented(call, "function", inspect.getdoc(function) or ""))
    text = "Functions of expressions in [rule files](README.md). Examples show the answers of the official Schematron."
    return page("Functions of the rule language", text, *parts)


def terms_page() -> str:
    """Return the page with the business terms and their paths in the invoice."""
    rows = [
        (
            it.number,
            business_terms.name(it.number, "en"),
            f"`{it.path}`" if it.path else "",
            it.datatype,
            it.cardinality,
        )
        for it in business_terms.terms().values()
    ]
    text = (
        "Terms and groups of EN 16931-1 and of the XRechnung extension, with the path of the field in `Invoice`, which "
        "Python and rules use."
    )
    return page("Business terms", text, table(("number", "name", "path", "type", "cardinality"), rows))


# ---------------------------------------------------------------- the build


def write_sources(folder: Path) -> None:
    """Write all pages and the Sphinx settings into a folder."""
    pages = {
        "exceptions.md": exceptions_page(),
        "commands.md": commands_page(),
        "http-problems.md": problems_page(),
        "rules/functions.md": functions_page(),
        "rules/terms.md": terms_page(),
        **dict(api_pages()),
    }
    for name, text in pages.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    for file in (file for pattern in INCLUDED for file in ROOT.glob(pattern)):
        (folder / file.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, folder / file.relative_to(ROOT))
    for file in (*HERE.glob("*.md"), *HERE.glob("*.css"), HERE / "conf.py"):
        shutil.copy(file, folder)


def main() -> int:
    """Build the pages and return the exit status."""
    gc.disable()  # collections would examine all document trees again and again
    output = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "docs").resolve()
    with tempfile.TemporaryDirectory() as folder:
        write_sources(Path(folder))
        version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
        settings = {"version": version, "release": version, "html_title": f"einvoice {version}"}
        options = [option for name, value in settings.items() for option in ("-D", f"{name}={value}")]
        strict = ["--fail-on-warning", "--quiet", "--fresh-env"]
        return build_main(["-b", "html", *strict, *options, "-d", f"{folder}/.doctrees", folder, str(output)])


if __name__ == "__main__":
    sys.exit(main())
