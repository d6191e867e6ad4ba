# The appliance: einvoice's HTTP interface with all it needs, for machines without internet. `appliance/README.md` says how
# it is built, run and kept.
#
# A digest can be pinned: --build-arg BASE_IMAGE=debian:trixie-slim@sha256:...
ARG BASE_IMAGE=debian:trixie-slim

# ---------------------------------------------------------------- what is installed, made where there are tools to do so
FROM ${BASE_IMAGE} AS build
# The package versions are those of the base's Debian release: a pinned one would be gone with its next security update.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 python3-venv python3-hatchling \
 && rm -rf /var/lib/apt/lists/*
COPY appliance/requirements.lock /source/appliance/
# Where a proxy or a package mirror of your own has to be used, its settings come in as secrets, which no layer keeps.
RUN --mount=type=secret,id=pipconf,target=/etc/pip.conf \
    --mount=type=secret,id=cacert,target=/run/cacert.pem \
    python3 -m venv /opt/einvoice \
 && /opt/einvoice/bin/pip install --no-cache-dir --disable-pip-version-check --only-binary=:all: --require-hashes \
      -r /source/appliance/requirements.lock
COPY . /source
WORKDIR /source
RUN python3 -m hatchling build -t wheel \
 && /opt/einvoice/bin/pip install --no-cache-dir --disable-pip-version-check --no-index --no-deps dist/*.whl \
 && /opt/einvoice/bin/pip uninstall -y pip \
 && find /opt/einvoice/lib -type d -name tests -prune -exec rm -rf {} + \
 && EINVOICE_CACHE=/opt/rules /opt/einvoice/bin/einvoice-appliance prepare

# ---------------------------------------------------------------- the image
FROM ${BASE_IMAGE}
# WeasyPrint loads Pango and HarfBuzz; the fonts of the pages are in the package, this one is for what they lack.
# Nobody becomes another user here, so no program needs its setuid bit.
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
# Rules that have been worked out; whoever runs the server believes only files of their own.
COPY --from=build --chown=10001:10001 /opt/rules /var/cache/einvoice
# Nothing can be compiled later: the root file system is meant to be read-only, and pip has compiled everything.
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
  CMD ["python", "-c", "import http.client as h, os; c = h.HTTPConnection('127.0.0.1', int(os.environ['EINVOICE_PORT']), timeout=4); c.request('GET', '/healthz'); assert c.getresponse().status == 200"]
# The first process has to bury orphans, and to end on a signal that comes before Python listens to one.
ENTRYPOINT ["tini", "--", "einvoice-appliance"]
CMD ["serve"]
