# Two images from one build: `trainscope` (the static program alone) and `job` (with trainscope-workload,
# libtorch and data). The build installs what it needs with the same script as everybody else.
FROM debian:12-slim AS build
# What the README asks of a machine before scripts/install-deps does the rest. Versions are Debian 12's.
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates git make \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY scripts/install-deps scripts/
RUN scripts/install-deps build && rm -rf /var/lib/apt/lists/*
ENV TRAINSCOPE_DEPS_CACHE=/opt/trainscope-deps
COPY scripts/fetch-libtorch scripts/libtorch-requirements.txt scripts/
RUN scripts/fetch-libtorch
COPY . .
RUN make install PREFIX=/opt/trainscope

FROM debian:12-slim AS trainscope
COPY --from=build /opt/trainscope/bin/trainscope /opt/trainscope/bin/trainscope-gpu /usr/local/bin/
COPY --from=build /opt/trainscope/share /usr/local/share
ENV TRAINSCOPE_HOME=/runs
VOLUME /runs
ENTRYPOINT ["trainscope"]

FROM trainscope AS job
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install -y --no-install-recommends dataset-fashion-mnist libjpeg62-turbo libpng16-16 \
  && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/trainscope-deps /opt/trainscope-deps
COPY --from=build /opt/trainscope/bin/trainscope-workload /usr/local/bin/
