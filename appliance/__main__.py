"""The command `einvoice-appliance`: runs the server, manages API keys, prepares rule sets."""

import argparse
import contextlib
import datetime
import logging
import os
import re
import shlex
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import uvicorn
from pydantic import ValidationError
from starlette.types import ASGIApp

import einvoice
from appliance.access.key_usage import FILE_NAME as KEY_USAGE_FILE
from appliance.access.key_usage import KeyUsage
from appliance.access.keys import PREFIX as KEY_PREFIX
from appliance.access.keys import KeyFile, KeyRing, unknown_plan
from appliance.app import create_app
from appliance.artifacts.store import StoreError
from appliance.observability import logs
from appliance.observability.log_writer import BackgroundHandler
from appliance.prepare import prepare
from appliance.server import DrainingServer
from appliance.settings import Settings, check_variables, variable_name
from appliance.transport.connections import OpenConnections, protocol_class
from appliance.workers.environment import TEMPORARY_FOLDER
from appliance.workers.memory import return_large_blocks, use_one_heap

log = logging.getLogger("appliance")

DEFAULT_PORT = 8080

_RULES_COPY = "EINVOICE_RULES_COPY"
_SECRETS = re.compile(r"(?<=://).*(?=@)|(?<=\?).+")
"""Name and password of an address, and its query, in which Redis accepts a password as well."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return exit status 0, or 1 with an error message on standard error."""
    options = _parser().parse_args(arguments)
    try:
        check_variables()
        status: int = options.run(Settings(), options)
        sys.stdout.flush()
    except ValidationError as error:
        items = [it for it in error.errors() if it["type"] != "default_factory_not_called"]  # for lack of another one
        errors = "; ".join(f"{variable_name(str(item['loc'][0]))}: {item['msg']}" for item in items)
        return _fail(f"invalid setting: {errors}", as_json=options.run is _serve)
    except BrokenPipeError:  # the reader, such as `head`, closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (OSError, ValueError, StoreError, einvoice.RuleError) as error:
        return _fail(str(error), as_json=options.run is _serve)
    return status


def _fail(message: str, *, as_json: bool = False) -> int:
    """Print an error: as a line of the log if the server failed to start, else as text."""
    print(logs.error_line(log.name, message) if as_json else f"einvoice-appliance: {message}", file=sys.stderr)
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("einvoice-appliance", description="Validates and generates e-invoices over HTTP.")
    parser.add_argument("--version", action=_VersionAction, help="print the version and the rule sets")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    serve = commands.add_parser("serve", help="start the server")
    serve.add_argument("--host", help="address to listen on (default: EINVOICE_HOST, or 127.0.0.1)")
    serve.add_argument("--port", type=int, help="port to listen on (default: EINVOICE_PORT, 8080, or a free port)")
    serve.add_argument("--try-out", action="store_true", help="create an API key and print an example request")
    serve.set_defaults(run=_serve)

    settings = commands.add_parser("settings", help="list the settings (environment variables) with their values")
    settings.set_defaults(run=_list_settings)

    prepare_command = commands.add_parser("prepare", help="compile all rule sets into the cache (EINVOICE_CACHE)")
    prepare_command.set_defaults(run=_prepare)

    keys_command = commands.add_parser("keys", help="add, list or revoke API keys")
    keys = keys_command.add_subparsers(required=True, metavar="ACTION")
    add = keys.add_parser("add", help="create a key and print it; it cannot be shown again")
    add.add_argument("name", help="name of the holder: a-z, 0-9 and hyphens; at most two keys per name")
    add.add_argument("--plan", default="business", help="plan of the key (default: business)")
    add.add_argument("--expires", type=_date, metavar="YYYY-MM-DD", help="last day on which the key is valid (UTC)")
    add.add_argument(
        "--print-line",
        action="store_true",
        help="do not store the key; print it, and the line with its hash for the environment or a secret store",
    )
    add.set_defaults(run=_add_key)
    list_command = keys.add_parser(
        "list", help="list the keys: label, name, plan, days of creation, last use and expiry, where it is defined"
    )
    list_command.set_defaults(run=_list_keys)
    revoke = keys.add_parser("revoke", help="revoke a key, effective immediately")
    revoke.add_argument("label", help="label of the key, as listed")
    revoke.set_defaults(run=_revoke_key)
    return parser


def _date(text: str) -> datetime.date:
    return datetime.date.fromisoformat(text)


def _list_settings(settings: Settings, options: argparse.Namespace) -> int:
    for name, field in Settings.model_fields.items():
        value = getattr(settings, name)
        text = ",".join(map(str, value)) if isinstance(value, tuple) else "" if value is None else str(value)
        print(f"{variable_name(name)}={_SECRETS.sub('***', text)}\n    {field.description}")
    return 0


def _prepare(settings: Settings, options: argparse.Namespace) -> int:
    prepare()
    return 0


def _add_key(settings: Settings, options: argparse.Namespace) -> int:
    file = KeyFile(settings.keys_file)
    if options.print_line:
        plain, key = file.new_elsewhere(options.name, options.plan, options.expires)
        print(plain, key.line(), sep="\n")
    else:
        print(file.add(options.name, options.plan, options.expires))
    return 0


def _list_keys(settings: Settings, options: argparse.Namespace) -> int:
    file, last_uses = KeyFile(settings.keys_file), _key_usage(settings).read()
    plans, errors = file.plans(), []
    for place, keys in {"file": file.read(), "environment": file.environment_keys()}.items():
        for key in keys:
            known = {"created": key.created, "used": last_uses.get(key.digest), "expires": key.expires, "in": place}
            print(key.label, key.name, key.plan, *(f"{name}={content or '-'}" for name, content in known.items()))
            if key.plan not in plans:
                errors.append(f"{key.label}: {unknown_plan(key.plan, plans)}")
    return _fail("; ".join(errors)) if errors else 0


def _key_usage(settings: Settings) -> KeyUsage:
    return KeyUsage(settings.data / KEY_USAGE_FILE)


def _revoke_key(settings: Settings, options: argparse.Namespace) -> int:
    file = KeyFile(settings.keys_file)
    try:
        file.revoke(options.label)
    except KeyError:
        if options.label in {key.label for key in file.environment_keys()}:
            variable = f"{KEY_PREFIX}{options.label}"
            return _fail(f"the key is in the environment: remove the variable {variable}, and restart the server")
        return _fail(
            f"no key with the label {options.label} in {settings.keys_file}; see: einvoice-appliance keys list"
        )
    return 0


def _serve(settings: Settings, options: argparse.Namespace) -> int:
    overrides = {name: value for name in ("host", "port") if (value := getattr(options, name)) is not None}
    settings = settings.model_copy(update=overrides)
    settings.check_capacity()
    if not options.try_out:
        KeyFile(settings.keys_file).check_readable(must_exist=settings.keys is not None)
    return_large_blocks()
    use_one_heap()
    releases = _releases()  # raises RuleError for an invalid rule set in EINVOICE_RULES_DIR
    with contextlib.ExitStack() as stack:
        _copy_rules(stack)
        _make_temporary_folder(stack)
        listener = stack.enter_context(_listen(settings.host, settings.port))
        log_handler = BackgroundHandler(sys.stderr.fileno())
        logs.configure(settings.log_level, log_handler)
        log.info("Starting", extra={"fields": {"version": version("einvoice-toolkit"), **releases}})
        keys = KeyRing(settings.keys_file, usage=_key_usage(settings))
        keys.check_environment()
        if options.try_out:
            _print_example(settings, keys, listener.getsockname()[1], einvoice.samples() / "xrechnung-ubl.xml")
        draining = threading.Event()
        connections = OpenConnections(settings)
        app = create_app(settings, keys, draining.is_set, connections, lambda: log_handler.dropped)
        server = DrainingServer(_config(settings, app, connections), settings.drain_seconds, draining)
        signal.signal(signal.SIGTERM, lambda number, frame: None)  # uvicorn raises the signal again after shutdown
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listener])
    return 0 if server.started else 1


def _copy_rules(stack: contextlib.ExitStack) -> None:
    """Keep a copy of the added rule sets while the service runs: a worker that starts later applies the same rules."""
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="einvoice-rules-"))
    einvoice.copy_rules(Path(folder))
    _set_variable(stack, _RULES_COPY, folder)


def _make_temporary_folder(stack: contextlib.ExitStack) -> None:
    """Make the folder in which workers write files for veraPDF; they can write nowhere else."""
    if os.environ.get("EINVOICE_VERAPDF"):
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="einvoice-workers-"))
        _set_variable(stack, TEMPORARY_FOLDER, folder)


def _set_variable(stack: contextlib.ExitStack, name: str, value: str) -> None:
    """Define a variable for the workers, while the service runs."""
    os.environ[name] = value
    stack.callback(os.environ.pop, name, None)


def _releases() -> dict[str, Any]:
    """Return the newest release of each rule set, and the current rule set."""
    newest = {release.ruleset: release.name for release in einvoice.rule_sets() if not release.announced}
    return {"ruleset": einvoice.catalog().rule_set.name, "rule_sets": list(newest.values())}


class _VersionAction(argparse.Action):
    """Prints the version and the rule sets, and exits."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *arguments: object) -> None:
        releases = _releases()
        print(f"{parser.prog} {version('einvoice-toolkit')}, current rule set {releases['ruleset']}")
        print(f"rule sets: {', '.join(releases['rule_sets'])}")
        parser.exit()


def _config(settings: Settings, app: ASGIApp, connections: OpenConnections) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=protocol_class(settings, connections),
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # done by `appliance.transport.forwarded`
        timeout_keep_alive=settings.keep_alive_seconds,
        timeout_graceful_shutdown=settings.shutdown_seconds,
    )


def _listen(host: str, port: int | None) -> socket.socket:
    if port is not None:
        return _bind(host, port)
    try:
        return _bind(host, DEFAULT_PORT)
    except OSError:
        return _bind(host, 0)


def _bind(host: str, port: int) -> socket.socket:
    """Listen on an address; "::" is all addresses of IPv6 and IPv4."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    both = host == "::" and socket.has_dualstack_ipv6()
    return socket.create_server((host, port), family=family, dualstack_ipv6=both)


def _print_example(settings: Settings, keys: KeyRing, port: int, sample: Path) -> None:
    """Print an example request that works as printed.

    Only hashes of keys are stored, so a later start cannot print the first key again; it issues a temporary one.
    """
    file = KeyFile(settings.keys_file)
    if file.read():
        plain = keys.issue_temporary()
        heading = f"Temporary API key, valid until the server stops (permanent keys are in {settings.keys_file}):"
    else:
        plain = file.add("first", "business")
        heading = f"Your first API key; it cannot be shown again ({settings.keys_file} stores only its hash):"
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    base = f"http://{host}:{port}/"
    command = ["curl", "-H", f"X-API-Key: {plain}", "-F", f"file=@{sample}", f"{base}api/external/validate?lang=en"]
    print(f"{heading}\n\n    {plain}\n\nTry it in another terminal:\n\n    {shlex.join(command)}\n", flush=True)
    if settings.page:
        print(f"Or in a browser, with this key: {base}\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
