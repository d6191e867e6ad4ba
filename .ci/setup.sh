# Sourced by tests/run and appliance/run: creates .venv (all extras, versions of .ci/requirements.lock) and installs the
# Debian packages it requires. Fast if nothing changed. Sets $root and changes to that folder.
#
# Debian packages are installed only if missing; only that requires root privileges (or sudo).

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

say() { printf '== %s\n' "$*" >&2; }
fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# Loaded by WeasyPrint to render PDFs; it requires at least one font.
render_packages=(libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0 fonts-dejavu-core)
# Packages for tests only, set by tests/run.
: "${test_packages:=}"

install_packages() { # NAME...
    local as_root=()
    if ! command -v apt-get >/dev/null; then
        fail "not a Debian or Ubuntu system; install the equivalents of: $*"
    fi
    if ((EUID != 0)); then
        command -v sudo >/dev/null || fail "missing packages; install them as root, then run this command again: apt-get install $*"
        as_root=(sudo)
    fi
    say "installing Debian packages: $*"
    local install=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 -qq
        install -y --no-install-recommends "$@")
    # Package lists may be missing or outdated: update them only if the installation fails.
    "${install[@]}" >&2 || { "${as_root[@]}" apt-get -qq update >&2 && "${install[@]}" >&2; } ||
        fail "could not install: $*"
}

runs() { # PYTHON CODE -> whether PYTHON runs CODE (the shim of a version manager may exist without working)
    command -v "$1" >/dev/null && "$1" -c "$2" >/dev/null 2>&1
}

newest_python() { # CODE -> the newest Python >= 3.11 that runs CODE
    local name
    for name in python3.14 python3.13 python3.12 python3.11 python3 /usr/bin/python3; do
        if runs "$name" "import sys; assert sys.version_info >= (3, 11); $1"; then
            printf '%s\n' "$name"
            return
        fi
    done
}

usable_environment() { # whether .venv works, is new enough, and was created in this folder (scripts contain the path)
    runs .venv/bin/python 'import pip, sys; assert sys.version_info >= (3, 11)' &&
        grep -q "^command = .* $root/\.venv$" .venv/pyvenv.cfg
}

missing_packages() { # -> the missing Debian packages, one a line
    local name python
    if command -v dpkg-query >/dev/null; then
        for name in "${render_packages[@]}" $test_packages; do
            [[ $(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null) == installed ]] || printf '%s\n' "$name"
        done
    fi
    if usable_environment || [[ $(newest_python 'import ensurepip, venv') ]]; then return; fi
    python=$(newest_python 'pass')
    if [[ $python ]]; then
        # Debian packages ensurepip separately: python3.11-venv for python3.11.
        "$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])'
    else
        printf '%s\n' python3 python3-venv
    fi
}

make_environment() {
    local stamp=.venv/.made-from wanted python
    wanted=$(cat pyproject.toml .ci/requirements.lock | sha256sum)
    if usable_environment; then
        if [[ -f $stamp && $(<"$stamp") == "$wanted" ]]; then return; fi
    else
        python=$(newest_python 'import ensurepip, venv')
        [[ $python ]] || fail "Python 3.11 or newer with the venv module is required"
        say "creating .venv with $("$python" --version)"
        "$python" -m venv --clear .venv
    fi
    rm -f "$stamp"
    say "installing the locked versions (about 200 packages; some minutes without a cache of pip)"
    local pip=(.venv/bin/python -m pip install --quiet --disable-pip-version-check)
    "${pip[@]}" --require-hashes -r .ci/requirements.lock
    "${pip[@]}" --no-deps --no-build-isolation --editable .
    say "compiling the rules"
    .venv/bin/python .ci/build_hook.py
    printf '%s' "$wanted" >"$stamp"
}

set_up() {
    local lock missing
    # Commands started at the same time must not create the environment twice; the folder itself is the lock.
    exec {lock}<"$root"
    flock "$lock"
    mapfile -t missing < <(missing_packages)
    if ((${#missing[@]})); then install_packages "${missing[@]}"; fi
    make_environment
    exec {lock}<&-
}

set_up
