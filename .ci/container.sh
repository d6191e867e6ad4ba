#!/usr/bin/env bash
# Integration test of the container image: builds it with the Dockerfile, exports it as a release, loads it again, and
# runs it with the commands of appliance/README.md. Works on Debian without a container engine or an image registry.
# Requires root. Installs missing Debian packages and leaves nothing else behind.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD

say() { printf '== %s\n' "$*" >&2; }
fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}
fail_with() { # MESSAGE COMMAND... -> print the output of the command, then fail
    "${@:2}" >&2 || :
    fail "$1"
}

((EUID == 0)) || fail "root privileges are required to build an image"
sources=/etc/apt/sources.list.d/debian.sources
[[ -f $sources ]] || fail "the base image is built from Debian packages, but $sources does not exist"

apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3)
missing=()
for pair in podman:podman runc:runc mmdebstrap:mmdebstrap ip:iproute2 unshare:util-linux python3:python3; do
    command -v "${pair%%:*}" >/dev/null || missing+=("${pair##*:}")
done
python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
if ((${#missing[@]})); then
    say "installing Debian packages: ${missing[*]}"
    "${apt[@]}" update >&2
    "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >/dev/null
fi

work=$(mktemp -d /var/tmp/einvoice-image.XXXXXX)
export CONTAINERS_CONF=$work/containers.conf CONTAINERS_STORAGE_CONF=$work/storage.conf DISABLE_HC_SYSTEMD=true
clean_up() {
    podman rm --force --all --volumes --time 2 >/dev/null 2>&1 || :
    podman rmi --force --all >/dev/null 2>&1 || :
    umount "$work/store/overlay" 2>/dev/null || :
    rm -rf "$work"
}
trap clean_up EXIT

# runc, because crun does not support hybrid control groups; explicit ulimits, as the defaults may exceed the host's.
cat >"$CONTAINERS_CONF" <<'END'
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[containers]
log_driver = "k8s-file"
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
END
printf '[storage]\ndriver = "overlay"\ngraphroot = "%s/store"\nrunroot = "%s/run"\n' "$work" "$work" \
    >"$CONTAINERS_STORAGE_CONF"

make_base() { # substitute for Debian's slim image: the same packages, from the package sources of this machine
    local base suite here
    base=$(sed -n 's/^ARG BASE_IMAGE=//p' Dockerfile)
    suite=${base##*:}
    suite=${suite%-slim}
    here=$(. /etc/os-release && echo "$VERSION_CODENAME")
    sed "s/\b$here\b/$suite/g" "$sources" >"$work/apt.sources"
    local clean='DPkg::Post-Invoke {"rm -f /var/cache/apt/archives/*.deb || true";}; Acquire::Retries 3;'
    local options=(--quiet --variant=minbase --include=usr-is-merged
        --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr
        --customize-hook="echo '$clean' >\"\$1/etc/apt/apt.conf.d/docker-clean\"")
    local path
    for path in man locale doc; do options+=(--dpkgopt="path-exclude=/usr/share/$path/*"); done
    options+=(--dpkgopt='path-include=/usr/share/doc/*/copyright')
    mmdebstrap "${options[@]}" "$suite" "$work/base.tar" "$work/apt.sources" >"$work/log" 2>&1 ||
        fail_with "building the base image failed" tail -40 "$work/log"
    podman import --quiet "$work/base.tar" "$base" >/dev/null
    rm "$work/base.tar"
}

build() { # -> release files in $work/release; pip settings of this machine are build secrets
    printf '[global]\ncert = /run/cacert.pem\nretries = 5\ntimeout = 60\n' >"$work/pip.conf"
    python3 -m pip config get global.index-url 2>/dev/null | sed 's/^/index-url = /' >>"$work/pip.conf" || :
    ENGINE=podman .ci/image "$work/release" --isolation chroot --pull=never --layers=false --format docker \
        --secret id=pipconf,src="$work/pip.conf" \
        --secret id=cacert,src="${PIP_CERT:-/etc/ssl/certs/ca-certificates.crt}" >"$work/image" 2>"$work/log" ||
        fail_with "building the image failed" tail -40 "$work/log"
    image=$(<"$work/image")
    say "image: $(($(podman image inspect "$image" --format '{{.Size}}') / 1000000)) MB," \
        "as a file $(($(stat -c %s "$work"/release/*.tar.gz) / 1000000)) MB," \
        "$(grep -o '"purl": *"pkg:' "$work"/release/*.cdx.json | wc -l) packages"
    podman rmi --force "$image" >/dev/null
}

# ---------------------------------------------------------------- in a network namespace without external access
step() { # NAME -> run the commands below `<!-- tried: NAME -->` in appliance/README.md
    awk -v mark="<!-- tried: $1 -->" '$0 == mark { on = 1; next } on && /^```$/ { exit } on && !/^```/' \
        "$root/appliance/README.md" >"$work/step"
    [[ -s $work/step ]] || fail "appliance/README.md has no commands for: $1"
    source "$work/step"
}

docker() { # run podman instead, without its additional writable folders on a read-only root file system
    if [[ $1 == run ]]; then
        shift
        set -- run --read-only-tmpfs=false "$@"
    fi
    podman "$@"
}

start() {
    local started=${EPOCHREALTIME/./}
    step start >/dev/null
    until python3 -c "import urllib.request as u; u.urlopen('$url/readyz', timeout=2)" 2>/dev/null; do
        ((${EPOCHREALTIME/./} - started < 60000000)) || fail "the service did not become ready"
        sleep 0.1
    done
    say "ready after $(((${EPOCHREALTIME/./} - started) / 1000)) ms"
}

inspect_container() {
    podman healthcheck run einvoice >/dev/null
    [[ $(podman exec einvoice einvoice-appliance keys list) == "ACME_1 acme business "* ]] || fail "the key is not listed"
    podman exec einvoice sh -euc '
        test "$(id -u):$(id -g)" = 10001:10001
        for place in /opt/einvoice /etc /run /var /usr /; do ! touch "$place/x" 2>/dev/null; done
        touch /data/x && rm /data/x
        ! test -e /etc/pip.conf && ! test -e /run/cacert.pem
        grep -q "^CapEff:[[:space:]]*0*$" /proc/self/status && grep -q "^NoNewPrivs:[[:space:]]*1$" /proc/self/status'
    say "idle: $(podman stats --no-stream --format '{{.MemUsage}}' einvoice)"
}

stop() { # verify shutdown time, exit status, and that the log is JSON without invoice content
    local started=$SECONDS
    step stop >/dev/null
    [[ $(podman inspect einvoice --format '{{.State.ExitCode}}') == 0 ]] || fail "the exit status is not 0"
    ((SECONDS - started < 10)) || fail "shutdown took $((SECONDS - started)) s"
    podman logs einvoice >"$work/logs" 2>&1
    python3 -c 'import json, sys; [json.loads(line)["level"] for line in sys.stdin]' <"$work/logs" ||
        fail "the log contains lines that are not JSON"
    ! grep -i -e beratung -e 'ei_[A-Za-z0-9_-]\{20\}' "$work/logs" || fail "the log contains invoice content or a key"
}

run() {
    set -euo pipefail
    ip link set lo up
    cd "$work/release"
    local key second_key=ei_known-to-this-check-alone
    step load >/dev/null
    step environment
    key=$(step key)
    # A configuration in the format of KoSIT's releases, with rules made for the tests.
    PYTHONPATH=$root python3 -c 'import sys; from tests.helpers.bundle_files import files, packed
sys.stdout.buffer.write(packed(files()))' >configuration.zip
    step rules
    start
    inspect_container
    python3 "$root/.ci/smoke.py" first "$url" "$key" "$work/notes"
    stop
    podman rm einvoice >/dev/null
    printf 'EINVOICE_PLAN_AUDIT=can_use_api,can_use_reference\nEINVOICE_KEY_ENV_1=env:audit:%s\n' \
        "$(printf %s "$second_key" | sha256sum | cut -d' ' -f1)" >>appliance.env
    start
    python3 "$root/.ci/smoke.py" again "$url" "$key" "$second_key" "$work/notes"
    stop
}

SECONDS=0
make_base
say "base: $SECONDS s"
build
say "built: $SECONDS s"
export work root url=http://127.0.0.1:8080
export -f run step docker start inspect_container stop say fail
unshare --net bash -c run || fail_with "the image failed its test" podman logs --tail 40 einvoice
say "container: passed, $SECONDS s"
