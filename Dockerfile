# docker build -t seen .
# docker run -e KAFKA_BROKERS=kafka:9092 -v seend:/var/lib/seend -p 127.0.0.1:8080:8080 -p 127.0.0.1:8081:8081 seen
# With your own configuration: -v ./seend.json:/etc/seend/seend.json:ro
# Debian 13 builds as well: --build-arg DEBIAN=trixie-slim. Its librdkafka 2.8 may end the daemon when a topic is
# deleted and created again (librdkafka issue 4778).
ARG DEBIAN=bookworm-slim

FROM debian:${DEBIAN} AS build
WORKDIR /src
# Packages first: they change less often than sources, and their layer is kept.
COPY scripts/setup.sh scripts/
COPY scripts/packages scripts/packages
RUN scripts/setup.sh --build
COPY . .
RUN cmake --preset release -DSEEN_TESTS=OFF && cmake --build --preset release
# The packages with the libraries that both programs link, in this distribution's versions.
RUN ldd build/release/seend build/release/seenctl | awk '$3 ~ /^\// {print $3}' | sort -u | xargs -n 1 readlink -f | \
    while read -r library; do dpkg -S "$library" || dpkg -S "${library#/usr}"; done 2>/dev/null | \
    cut -d: -f1 | sort -u > runtime-packages.txt && test -s runtime-packages.txt

FROM debian:${DEBIAN}
COPY --from=build /src/runtime-packages.txt /tmp/
RUN apt-get update -qq && \
    DEBIAN_FRONTEND=noninteractive xargs apt-get install -y -qq --no-install-recommends ca-certificates curl \
      < /tmp/runtime-packages.txt && \
    rm -rf /var/lib/apt/lists/* /tmp/runtime-packages.txt && \
    useradd --system --user-group --uid 10001 --home-dir /var/lib/seend --shell /usr/sbin/nologin seend && \
    install -d -o seend -g seend /var/lib/seend
COPY --from=build /src/build/release/seend /src/build/release/seenctl /usr/local/bin/
COPY config/container.json /etc/seend/seend.json
USER seend
VOLUME /var/lib/seend
EXPOSE 8080 8081
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["curl", "-fsS", "-o", "/dev/null", "http://127.0.0.1:8080/healthz"]
ENTRYPOINT ["seend"]
CMD ["/etc/seend/seend.json"]
