#!/bin/sh
# Shows the main job on one machine: seend with an embedded broker, real exposures and a live stream. Checks the results.
# `make demo` builds first. KEEP=1 leaves seend running. BUILD=DIR takes the binaries from DIR.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build/release}
if [ ! -x "$build/seend" ] || [ ! -x "$build/seenctl" ]; then
  echo "demo: $build/seend or $build/seenctl is missing: run 'make demo', or 'make build' first" >&2
  exit 2
fi

config=config/seend.json
[ -f config/demo.json ] && config=config/demo.json
work=build/demo
mkdir -p "$work"
store=$(mktemp -d "$work/store.XXXXXX")
log=$work/seend.log
seend=

finish() {
  status=$?
  trap - EXIT INT TERM
  if [ -n "$seend" ] && kill -0 "$seend" 2>/dev/null; then
    if [ "${KEEP:-}" = 1 ] && [ "$status" -eq 0 ]; then
      echo "seend is still running (KEEP=1): its log is $log; stop it with: kill $seend"
      exit "$status"
    fi
    kill -TERM "$seend"
    if wait "$seend"; then echo "seend has stopped."; else
      echo "demo: seend ended with status $?: see $log" >&2
      [ "$status" -ne 0 ] || status=1
    fi
  fi
  rm -rf "$store"
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

rm -f "$log"  # the log of an earlier run would say "started" until seend opens it again
# Takes the first port on which nobody listens: seend ends at once if it can't have the port.
for port in 8080 8081 8082 8083 8088 8888 18080 18081 28080 0; do
  "$build/seend" --config "$config" --embedded-kafka --set "http.listen=127.0.0.1:$port" \
    --set "store.directory=$store" >"$log" 2>&1 &
  seend=$!
  tries=0
  until grep -q 'seend started' "$log"; do
    tries=$((tries + 1))
    if ! kill -0 "$seend" 2>/dev/null || [ "$tries" -gt 300 ]; then break; fi
    sleep 0.1
  done
  if grep -q 'seend started' "$log"; then break; fi
  taken=no
  if ! kill -0 "$seend" 2>/dev/null && grep -q 'http.listen' "$log"; then taken=yes; fi
  if [ "$taken" = no ]; then
    echo "demo: seend doesn't start; its log ($log) ends:" >&2
    tail -n 20 "$log" >&2
    exit 1
  fi
  wait "$seend" || true
  seend=
done
if [ -z "$seend" ]; then
  echo "demo: no free port for http.listen; the last log ends:" >&2
  tail -n 5 "$log" >&2
  exit 1
fi
port=$(sed -n 's/.*seend started.* port=\([0-9]*\).*/\1/p' "$log" | head -n 1)

# seenctl demo waits until /readyz is green.
"$build/seenctl" demo --http "http://127.0.0.1:$port" --example examples/open_bandit_exposures.jsonl.gz \
  --items-topic items
