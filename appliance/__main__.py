"""The command `einvoice-appliance`: starts the server, and keeps its keys."""

import argparse
import contextlib
import re
import shlex
import signal
import socket
import sys
from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path

import uvicorn
from pydantic import ValidationError

from appliance import logs
from appliance.app import create_app
from appliance.keys import KeyFile, KeyRing
from appliance.settings import Settings, variable
from appliance.stores import StoreError

USUAL_PORT = 8080

_PASSWORD = re.compile(r"(?<=://).*(?=@)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 0, or 1 with one sentence on standard error."""
    options = _parser().parse_args(arguments)
    try:
        status: int = options.run(Settings(), options)
    except ValidationError as error:
        places = "; ".join(f"{variable(str(item['loc'][0]))}: {item['msg']}" for item in error.errors())
        return _fail(f"a setting is wrong: {places}")
    except (OSError, ValueError, StoreError) as error:
        return _fail(str(error))
    return status


def _fail(sentence: str) -> int:
    print(f"einvoice-appliance: {sentence}", file=sys.stderr)
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("einvoice-appliance", description="Judges e-invoices over HTTP.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    serve = commands.add_parser("serve", help="start the server")
    serve.add_argument("--host", help="address to listen on (default: EINVOICE_HOST, or this machine only)")
    serve.add_argument("--port", type=int, help="port to listen on (default: EINVOICE_PORT, 8080, or any free one)")
    serve.add_argument(
        "--try-out", action="store_true", help="make a first API key if there is none, and print a call to try"
    )
    serve.set_defaults(run=_serve)

    settings = commands.add_parser("settings", help="list the environment variables that set something")
    settings.set_defaults(run=_list_settings)

    prepare = commands.add_parser("prepare", help="work out the rules of all releases now, not when first asked for")
    prepare.set_defaults(run=_prepare)

    keys_command = commands.add_parser("keys", help="add, list or revoke API keys")
    keys = keys_command.add_subparsers(required=True, metavar="WHAT")
    add = keys.add_parser("add", help="add a key and print it, this once")
    add.add_argument("name", help="who holds it: a-z, 0-9 and hyphens; two keys a name at most")
    add.add_argument("--plan", default="business", help="the plan that the key belongs to (default: business)")
    add.set_defaults(run=_add_key)
    keys.add_parser("list", help="list the keys: label, name, plan").set_defaults(run=_list_keys)
    revoke = keys.add_parser("revoke", help="revoke a key; it ends at once")
    revoke.add_argument("label", help="its label, as listed")
    revoke.set_defaults(run=_revoke_key)
    return parser


def _list_settings(settings: Settings, options: argparse.Namespace) -> int:
    for name, field in Settings.model_fields.items():
        value = getattr(settings, name)
        told = ",".join(map(str, value)) if isinstance(value, tuple) else "" if value is None else str(value)
        told = _PASSWORD.sub("***", told)
        print(f"{variable(name)}={told}\n    {field.description}")
    return 0


def _prepare(settings: Settings, options: argparse.Namespace) -> int:
    from appliance.prepare import prepare

    prepare()
    return 0


def _add_key(settings: Settings, options: argparse.Namespace) -> int:
    print(KeyFile(settings.keys_file).add(options.name, options.plan))
    return 0


def _list_keys(settings: Settings, options: argparse.Namespace) -> int:
    for key in KeyFile(settings.keys_file).read():
        print(key.label, key.name, key.plan)
    return 0


def _revoke_key(settings: Settings, options: argparse.Namespace) -> int:
    try:
        KeyFile(settings.keys_file).revoke(options.label)
    except KeyError:
        return _fail(f"there is no key {options.label}; see: einvoice-appliance keys list")
    return 0


def _serve(settings: Settings, options: argparse.Namespace) -> int:
    given = {name: value for name in ("host", "port") if (value := getattr(options, name)) is not None}
    settings = settings.model_copy(update=given)
    keys = KeyRing(settings.keys_file)
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(_listen(settings.host, settings.port))
        if options.try_out:
            sample = files("appliance") / "samples" / "xrechnung-ubl.xml"
            _print_call(settings, keys, listener.getsockname()[1], stack.enter_context(as_file(sample)))
        server = uvicorn.Server(_config(settings, keys))
        signal.signal(signal.SIGTERM, lambda number, frame: None)  # uvicorn raises it once more when it has stopped
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listener])
    return 0 if server.started else 1


def _config(settings: Settings, keys: KeyRing) -> uvicorn.Config:
    logs.set_up(settings.log_level)
    return uvicorn.Config(
        create_app(settings, keys),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # `appliance.address` does that
        timeout_graceful_shutdown=settings.shutdown_seconds,
    )


def _listen(host: str, port: int | None) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    if port is not None:
        return socket.create_server((host, port), family=family)
    try:
        return socket.create_server((host, USUAL_PORT), family=family)
    except OSError:
        return socket.create_server((host, 0), family=family)


def _print_call(settings: Settings, keys: KeyRing, port: int, sample: Path) -> None:
    """Print a call that works as it stands.

    Of a key only the hash is kept, so a later start cannot print the first key again. It lends one that is kept
    nowhere and ends with the server.
    """
    file = KeyFile(settings.keys_file)
    if file.read():
        plain = keys.lend()
        about = f"This key ends with the server; {settings.keys_file} keeps the lasting ones:"
    else:
        plain = file.add("first", "business")
        about = f"Your first API key, shown this once ({settings.keys_file} keeps its hash only):"
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    here = f"http://{host}:{port}/"
    call = ["curl", "-H", f"X-API-Key: {plain}", "-F", f"file=@{sample}", f"{here}api/external/validate?lang=en"]
    print(f"{about}\n\n    {plain}\n\nTry it from another terminal:\n\n    {shlex.join(call)}\n", flush=True)
    if settings.page:
        print(f"Or in a browser, with this key: {here}\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
