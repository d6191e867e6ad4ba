# Image of the appliance: einvoice's HTTP service with all dependencies, for hosts without internet access.
# `appliance/README.md` describes how to build and operate it.
#
# Pin the base image by digest with --build-arg BASE_IMAGE=debian:trixie-slim@sha256:...
ARG BASE_IMAGE=debian:trixie-slim

# ---------------------------------------------------------------- build stage: the virtual environment
FROM ${BASE_IMAGE} AS build
# Debian packages are not pinned: a pinned version disappears from the archive with the next security update.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 python3-venv python3-hatchling \
 && rm -rf /var/lib/apt/lists/*
COPY appliance/requirements.lock /source/appliance/
# Settings for a proxy or a package mirror are build secrets, which are not stored in any layer.
RUN --mount=type=secret,id=pipconf,target=/etc/pip.conf \
    --mount=type=secret,id=cacert,target=/run/cacert.pem \
    python3 -m venv /opt/einvoice \
 && /opt/einvoice/bin/pip install --no-cache-dir --disable-pip-version-check --only-binary=:all: --require-hashes \
      -r /source/appliance/requirements.lock
COPY . /source
WORKDIR /source
RUN PYTHONPATH=$(echo /opt/einvoice/lib/python3*/site-packages) python3 -m hatchling build -t wheel \
 && /opt/einvoice/bin/pip install --no-cache-dir --disable-pip-version-check --no-index --no-deps dist/*.whl \
 && /opt/einvoice/bin/pip uninstall -y pip \
 && find /opt/einvoice/lib -type d -name tests -prune -exec rm -rf {} + \
 && EINVOICE_CACHE=/opt/rules /opt/einvoice/bin/einvoice-appliance prepare

# ---------------------------------------------------------------- final stage
FROM ${BASE_IMAGE}
# WeasyPrint loads Pango and HarfBuzz. The package brings its own fonts; DejaVu covers characters they lack.
# Setuid and setgid bits are removed: the container never changes users.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get upgrade -y \
 && apt-get install -y --no-install-recommends python3 tini libpango-1.0-0 libpangoft2-1.0-0 \
      libharfbuzz-subset0 fonts-dejavu-core \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/log/apt /var/log/*.log \
 && find / -xdev -type f -perm /6000 -exec chmod a-s {} + \
 && groupadd --gid 10001 einvoice \
 && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin einvoice \
 && install -d -o 10001 -g 10001 -m 0700 /data
COPY --from=build /opt/einvoice /opt/einvoice
# Compiled rule sets; the cache is read only if its files belong to the user of the process.
COPY --from=build --chown=10001:10001 /opt/rules /var/cache/einvoice
# The root file system is meant to be read-only, and pip has written all bytecode.
ENV PATH=/opt/einvoice/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    XDG_CACHE_HOME=/tmp \
    EINVOICE_CACHE=/var/cache/einvoice \
    EINVOICE_HOST=0.0.0.0 \
    EINVOICE_PORT=8080 \
    EINVOICE_DATA=/data \
    EINVOICE_RULES_DIR=/data/rules
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="einvoice appliance" \
      org.opencontainers.image.description="Validates and generates European e-invoices over HTTP, on your own premises" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
WORKDIR /data
VOLUME /data
EXPOSE 8080
USER 10001:10001
HEALTHCHECK --interval=15s --timeout=5s --start-period=20s --retries=3 \
  CMD ["python", "-c", "import http.client as h, os; e = os.environ; a = e['EINVOICE_HOST']; c = h.HTTPConnection('127.0.0.1' if a in ('0.0.0.0', '::') else a, int(e['EINVOICE_PORT']), timeout=4); c.request('GET', '/healthz'); assert c.getresponse().status == 200"]
# tini reaps orphaned processes, and ends on a signal that arrives before Python has installed its handlers.
ENTRYPOINT ["tini", "--", "einvoice-appliance"]
CMD ["serve"]
