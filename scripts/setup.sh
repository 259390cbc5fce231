#!/usr/bin/env bash
# Installs the missing packages on Debian 12 and 13 and Ubuntu 24.04: those to build (--build), to build and test (--test,
# the default), to build, test and check (--check), or to build, test and benchmark (--bench). If no package is missing, it
# installs none and needs no rights.
set -euo pipefail
cd "$(dirname "$0")"

case "${1:---test}" in
  --build) lists=(packages/build.txt) ;;
  --test) lists=(packages/build.txt packages/test.txt) ;;
  --check) lists=(packages/build.txt packages/test.txt packages/check.txt) ;;
  --bench) lists=(packages/build.txt packages/test.txt packages/bench.txt) ;;
  *) echo "usage: scripts/setup.sh [--build | --test | --check | --bench]" >&2; exit 2 ;;
esac

# Packages from PyPI have pinned versions, so that every distribution behaves alike. Each list has its own environment in
# build/. The script makes an environment again when its list changes.
python_tools() {
  local tools=../build/$1 pins=packages/$2
  if cmp -s "$pins" "$tools/pins.txt"; then return; fi
  echo "setup: installing $(grep -v '^#' "$pins" | tr '\n' ' ')into build/$1"
  mkdir -p ../build
  rm -rf "$tools"
  if ! { /usr/bin/python3 -m venv "$tools" && "$tools/bin/pip" install -q --disable-pip-version-check -r "$pins"; }; then
    echo "setup: could not install $pins from PyPI; it needs the network once" >&2
    exit 1
  fi
  cp "$pins" "$tools/pins.txt"
}

missing=()
while read -r package command; do
  case "$package" in '' | '#'*) continue ;; esac
  if [ -n "$command" ] && command -v "$command" >/dev/null; then continue; fi
  if command -v dpkg-query >/dev/null &&
    [ "$(dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | head -n 1)" = installed ]; then
    continue
  fi
  missing+=("$package")
done < <(cat "${lists[@]}")

finish() {
  if [ "$1" != --build ]; then
    python_tools convert-tools convert-python.txt
    python_tools compare-tools compare-python.txt
    python_tools schema-tools schema-python.txt
  fi
  if [ "$1" = --check ]; then python_tools check-tools check-python.txt; fi
}

if [ ${#missing[@]} -eq 0 ]; then finish "${1:---test}"; exit 0; fi

if ! command -v apt-get >/dev/null; then
  distribution=$(. /etc/os-release 2>/dev/null && echo "${PRETTY_NAME:-unknown}" || echo unknown)
  cat >&2 <<END
setup: this script installs packages with apt (Debian 12 or 13, Ubuntu 24.04), but this is $distribution.
Please install the contents of these Debian packages. Then run the build itself ('cmake --preset release' and
'cmake --build --preset release'). It names what is still missing. The packages:
  ${missing[*]}
END
  exit 1
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "setup: needs root or sudo to install: ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

# Packages with a service (prometheus, redis-server) must not start it: we need only their programs. Debian asks policy-rc.d
# whether a service may start. The script keeps a policy-rc.d that already exists.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
  "${as_root[@]}" chmod 755 "$policy"
  trap '"${as_root[@]}" rm -f "$policy"' EXIT
fi

echo "setup: installing ${missing[*]}"
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300)
"${apt[@]}" update -qq </dev/null
if ! "${apt[@]}" install -y -qq --no-install-recommends "${missing[@]}" </dev/null; then
  distribution=$(. /etc/os-release 2>/dev/null && echo "${PRETTY_NAME:-unknown}" || echo unknown)
  echo "setup: apt could not install the packages above on $distribution" \
    "(known to work: Debian 12, Debian 13, Ubuntu 24.04 with universe)" >&2
  exit 1
fi

# The service must not start with the next boot either.
for service in prometheus redis-server; do
  if [[ " ${missing[*]} " == *" $service "* ]]; then
    "${as_root[@]}" rm -f "/etc/systemd/system/multi-user.target.wants/$service.service"
  fi
done

finish "${1:---test}"
