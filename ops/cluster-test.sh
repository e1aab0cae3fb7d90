#!/usr/bin/env bash
# Tries compose.cluster.yaml where there is Docker: sends events to three nodes while it kills, freezes, cuts off and restarts nodes and stores, and
# then compares every day with that of one node on DuckDB that got the same events once. The last line is the verdict; it exits with 0 or 1.
#
#   ops/cluster-test.sh                       an empty cluster, ROUNDS faults (27), the verdict; KEEP=1 leaves the cluster there
#   ops/cluster-test.sh send ORG KEY URL...   sends events of an organization to the first node, until $WORK/stop is there
#   ops/cluster-test.sh replay ORG KEY URL    sends what was acknowledged once more, to another service
#   ops/cluster-test.sh watch ORG KEY URL...  asks one node after the other: the number of events must never fall
#   ops/cluster-test.sh verdict ORG KEY URL KEY URL   compares a service with the one node; days must be built in both
#
# It needs bash, curl and openssl beside Docker. SEED plays the choice of nodes of a run again.
set -uo pipefail
export LC_ALL=C
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# Sent batches of events wait in $WORK/sent until they are acknowledged.
work=${WORK:-$(mktemp -d)}
mkdir -p "$work/sent" "$work/acknowledged"
batch_events=20
# The days of events: they have ended, and stay the same if midnight comes. Scripts that begin together take those of one.
if [[ ! -e $work/days ]]; then
  for back in 4 3 2 1; do date -u -d "-$back days" +%F; done >"$work/days.$$"
  ln "$work/days.$$" "$work/days" 2>/dev/null
  rm "$work/days.$$"
fi
mapfile -t days <"$work/days"

exec 3>&1
say() { printf '%s %s\n' "$(date -u +%T)" "$*" >&3; }

# Asks a service: the key, the rest for curl. The key doesn't show in the list of processes.
ask() {
  local key=$1
  shift
  curl --config - --silent --show-error --max-time 60 "$@" <<<"header = \"Authorization: Bearer $key\""
}

# A batch of events of all days: its name, and its number.
events() {
  awk -v name="$1" -v batch="$2" -v count="$batch_events" -v days="${days[*]}" 'BEGIN {
    split(days, day, " ")
    split("user_message model_usage tool_call file_change", type, " ")
    more["model_usage"] = ",\"model\":\"claude-sonnet-4\",\"input_tokens\":120,\"output_tokens\":45"
    more["tool_call"] = ",\"tool_name\":\"Edit\",\"success\":true"
    more["file_change"] = ",\"path\":\"src/main.ts\",\"operation\":\"edit\",\"lines_added\":3"
    for (i = 0; i < count; i++) {
      t = type[i % 4 + 1]
      printf "{\"event_id\":\"%s-%d-%d\",\"type\":\"%s\",\"timestamp\":\"%sT%02d:%02d:%02dZ\",\"user_id\":\"user-%d\",\"session_id\":\"%s-%d\"%s}\n",
        name, batch, i, t, day[(batch + int(i / 5)) % 4 + 1], batch % 24, batch % 60, i, batch % 7, name, batch / 10, more[t]
    }
  }'
}

# Posts a batch: true if it was acknowledged. What a service refuses for good is noted.
post() {
  local key=$1 url=$2 file=$3 lines answer status
  lines=$(wc -l <"$file")
  answer=$(ask "$key" --header 'Content-Type: application/x-ndjson' --data-binary "@$file" --write-out '\n%{http_code}' \
    "$url/api/v1/events" 2>/dev/null)
  status=${answer##*$'\n'}
  [[ $status == 200 && $answer == *"\"accepted\":$lines,\"rejected\":0"* ]] && return
  [[ $status == 2* || ($status == 4* && $status != 408 && $status != 429) ]] && echo "$url answered $answer" >>"$work/wrong"
  return 1
}

# Like an exporter, it sends a batch again until it is acknowledged, to the next node.
send() {
  local org=$1 key=$2 at=0 batch=0 name
  shift 2
  name=$org-$BASHPID
  while [[ ! -e $work/stop ]]; do
    events "$name" "$batch" >"$work/sent/$name-$batch"
    at=0
    until post "$key" "${@:at % $# + 1:1}" "$work/sent/$name-$batch"; do
      [[ -e $work/give-up ]] && return
      at=$((at + 1))
      sleep 0.5
    done
    mv "$work/sent/$name-$batch" "$work/acknowledged/$org@$name-$batch"
    batch=$((batch + 1))
  done
}

replay() {
  local org=$1 key=$2 url=$3 file
  find "$work/acknowledged" -name "$org@*" -print0 | sort -z | xargs -0 cat | split --lines 20000 - "$work/replay-"
  for file in "$work"/replay-*; do
    post "$key" "$url" "$file" || return
    rm "$file"
  done
}

# The number of events that a service has settled.
settled() { ask "$1" --fail "$2/api/v1/status" 2>/dev/null | grep -oE '"events":[0-9]+' | head -n 1 | cut -d: -f2; }

watch() {
  local org=$1 key=$2 before=0 now url
  shift 2
  while [[ ! -e $work/stop ]]; do
    for url in "$@"; do
      now=$(settled "$key" "$url")
      [[ -n $now && $now -lt $before ]] && echo "$url has $now events of $org after another node had $before" >>"$work/wrong"
      before=${now:-$before}
      # A node may know of a batch half a second later than another.
      sleep 2
    done
  done
}

# What a service says of each day: its events, and the digest of each table.
facts() {
  ask "$1" --fail "$2/api/v1/analytics/quality?startDate=${days[0]}&endDate=${days[3]}" |
    sed 's/"restatements":\[[^]]*\]//g' | grep -oE '"(date|events|accepted|rejected|table|rows|digest)":("[^"]*"|[0-9]+)'
}

# How many events of each day were acknowledged, as facts have them.
expected() {
  find "$work/acknowledged" -name "$1@*" -print0 | xargs -0 cat | grep -oE '"timestamp":"[0-9-]{10}' | cut -d'"' -f4 | sort | uniq -c |
    awk '{ printf "\"date\":\"%s\"\n\"events\":%d\n\"accepted\":%d\n\"rejected\":0\n", $2, $1, $1 }'
}

# Compares a service with the one node: true if they are the same, and have every acknowledged event once.
verdict() {
  local org=$1 good=0
  facts "$2" "$3" >"$work/facts" || { say "$3 doesn't answer"; return 1; }
  facts "$4" "$5" >"$work/facts-of-one" || { say "$5 doesn't answer"; return 1; }
  expected "$org" >"$work/expected"
  [[ -s $work/expected ]] || { say "no event of $org was acknowledged"; return 1; }
  if ! diff "$work/expected" <(grep -E '^"(date|events|accepted|rejected)' "$work/facts") >"$work/difference"; then
    say "$3: not every acknowledged event of $org counts once (< acknowledged, > counted):"
    cat "$work/difference"
    good=1
  fi
  if ! diff "$work/facts-of-one" "$work/facts" >"$work/difference"; then
    say "$3: days of $org are not those of the one node (< one node, > this one):"
    head -n 12 "$work/difference"
    good=1
  fi
  ((good == 0)) && say "$3: $(grep -c '"digest"' "$work/facts") digests of $org are those of the one node"
  return "$good"
}

project=daybook-cluster-test
nodes=(daybook-1 daybook-2 daybook-3)
urls=(http://127.0.0.1:8787 http://127.0.0.1:8788 http://127.0.0.1:8789)
one=http://127.0.0.1:8790
orgs=(acme globex)

compose() { docker compose --project-name "$project" --env-file "$work/env" --file "$here/compose.cluster.yaml" "$@"; }
cli() { compose exec -T "$1" node dist/cli.js "${@:2}"; }

# Waits until services are ready.
ready() {
  local url
  for url in "$@"; do
    for _ in $(seq 300); do
      curl --silent --fail --max-time 5 --output /dev/null "$url/readyz" && continue 2
      sleep 1
    done
    say "$url isn't ready after five minutes"
    return 1
  done
}

# Waits until a node knows a new key, which another node made.
known() {
  for _ in $(seq 10); do
    [[ -n $(settled "$1" "$2") ]] && return
    sleep 1
  done
  say "$2 doesn't take a key that is ten seconds old"
  return 1
}

# Kills a service, and starts it again.
fell() {
  compose kill "$1" && sleep "$((RANDOM % 10 + 1))" && compose start "$1"
}

# The fault of a round: all kinds in turn, at nodes and replicas that chance names.
fault() {
  local node=${nodes[RANDOM % 3]} replica=clickhouse-$((RANDOM % 2 + 1)) container index
  container=$(compose ps --all --quiet "$node")
  case $(($1 % 9)) in
    0) say "kill $node" && fell "$node" ;;
    1) say "freeze $node for longer than its leases" && compose pause "$node" && sleep 75 && compose unpause "$node" ;;
    2) say "kill $replica" && fell "$replica" ;;
    3) say "cut $node off from all stores" && docker network disconnect "${project}_stores" "$container" && sleep 40 &&
      docker network connect --alias "$node" "${project}_stores" "$container" ;;
    4) say 'kill PostgreSQL' && fell postgres ;;
    5) say "kill $node while it builds" && { cli "$node" build & } && sleep "$((RANDOM % 4))" && fell "$node" ;;
    6) say 'kill S3' && fell s3 ;;
    7) say 'kill Keeper' && fell keeper ;;
    8)
      say 'restart all nodes in turn'
      for index in 0 1 2; do compose restart "${nodes[index]}" && ready "${urls[index]}" || return; done
      ;;
  esac
}

# Waits until all acknowledged events of an organization are settled and no day waits for a build.
built() {
  local org=$1 key=$2 want
  want=$(find "$work/acknowledged" -name "$org@*" -print0 | xargs -0 cat | wc -l)
  for _ in $(seq 60); do
    cli "${nodes[0]}" build >>"$work/log" 2>&1
    ask "$key" "${urls[0]}/api/v1/status" | grep -qE "\"events\":$want,.*\"days_stale\":0," && return
    sleep 10
  done
  say "ten minutes later $org has $(settled "$key" "${urls[0]}") of $want events, or days that aren't built"
  return 1
}

# How many batches aren't acknowledged.
waiting() { find "$work/sent" -type f | wc -l; }

# The key in what `keys create --json` prints.
key_in() { grep -oE '"key": *"[^"]+"' | cut -d'"' -f4; }

# Removes what a run made, unless it is to be looked at.
remove() {
  touch "$work/stop" "$work/give-up"
  [[ ${KEEP:-} == 1 ]] && { say "the cluster $project stays, and $work"; return; }
  docker rm --force --volumes "$project-one" >/dev/null 2>&1
  compose down --volumes --timeout 10 >/dev/null 2>&1
  rm -rf "$work"
}

run() {
  local seed=${SEED:-$RANDOM} rounds=${ROUNDS:-27} good=0 pids=() index org image name url
  declare -A keys one_keys
  say "seed $seed, $rounds rounds, in $work"
  umask 077
  for name in DAYBOOK_SECRET_KEY POSTGRES_PASSWORD CLICKHOUSE_PASSWORD CLICKHOUSE_CLUSTER_SECRET S3_ACCESS_KEY S3_SECRET_KEY; do
    echo "$name=$(openssl rand -hex 24)"
  done >"$work/env"
  trap remove EXIT
  { compose up --detach --build && ready "${urls[@]}"; } || return 1
  image=$(sed -n 's/^ *image: \(daybook:.*\)/\1/p' "$here/compose.cluster.yaml")
  { docker run --detach --name "$project-one" --publish "${one#http://}:8787" --env DAYBOOK_BUILD_AT=off "$image" >/dev/null &&
    ready "$one"; } || return 1
  for org in "${orgs[@]}"; do
    keys[$org]=$(cli daybook-1 keys create --org "$org" --role owner --json 2>>"$work/log" | key_in)
    one_keys[$org]=$(docker exec "$project-one" node dist/cli.js keys create --org "$org" --role owner --json 2>>"$work/log" | key_in)
    [[ -n ${keys[$org]} && -n ${one_keys[$org]} ]] || { say "no key of $org"; return 1; }
    for url in "${urls[@]}"; do known "${keys[$org]}" "$url" || return 1; done
    for index in 0 1 2; do
      send "$org" "${keys[$org]}" "${urls[index]}" "${urls[(index + 1) % 3]}" "${urls[(index + 2) % 3]}" &
      pids+=($!)
    done
    watch "$org" "${keys[$org]}" "${urls[@]}" &
    pids+=($!)
  done
  # Here, because each process of before has chance of its own.
  RANDOM=$seed
  for ((index = 0; index < rounds; index++)); do
    cli "${nodes[RANDOM % 3]}" build >>"$work/log" 2>&1 &
    fault "$index" >>"$work/log" 2>&1 || { say "the fault failed: see $work/log"; good=1; }
    sleep "$((RANDOM % 15 + 5))"
  done
  ready "${urls[@]}" || good=1
  touch "$work/stop"
  for _ in $(seq 120); do (($(waiting) > 0)) && sleep 1; done
  touch "$work/give-up"
  wait "${pids[@]}"
  (($(waiting) == 0)) || { say "$(waiting) batches were not acknowledged within two minutes"; good=1; }
  [[ -e $work/wrong ]] && { say 'answers were wrong:' && head -n 20 "$work/wrong" && good=1; }
  for org in "${orgs[@]}"; do
    built "$org" "${keys[$org]}" || good=1
    replay "$org" "${one_keys[$org]}" "$one" || good=1
  done
  docker exec "$project-one" node dist/cli.js build >>"$work/log" 2>&1 || good=1
  for org in "${orgs[@]}"; do
    for url in "${urls[@]}"; do verdict "$org" "${keys[$org]}" "$url" "${one_keys[$org]}" "$one" || good=1; done
  done
  if ((good == 0)); then
    say "YES: no event was lost or counted twice in $rounds rounds (seed $seed)"
  else
    say "NO: see above (seed $seed), and KEEP=1"
  fi
  return "$good"
}

case ${1:-run} in
  run) run ;;
  send | replay | watch | verdict) "$@" ;;
  *)
    sed -n '2,12s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
