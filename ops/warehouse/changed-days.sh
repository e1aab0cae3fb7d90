#!/usr/bin/env bash
# Writes the rows of days that have changed since the last export as Parquet files, one for each table and day, and prints "<table> <day> <file>" for
# each. A day that has lost all its rows has a file without rows. docs/warehouse.md says how to load them.
#
#   DAYBOOK_URL=https://daybook.acme.example DAYBOOK_KEY=dbk_... changed-days.sh <folder> <table>...
#
# <folder>/loaded.csv has what was loaded last: move <folder>/exported.csv there once everything is loaded. Until then, the same days come again.
set -euo pipefail
export LC_ALL=C
: "${DAYBOOK_URL:?the address of the service}" "${DAYBOOK_KEY:?a key of an owner or manager}"
folder=${1:?the folder of the export}
shift
(($# > 0)) || { echo 'Name the tables, such as users and user_models.' >&2; exit 2; }

# Asks SQL: the media type, the file of the answer, and the body.
ask() {
  curl --config - --fail --silent --show-error --retry 5 --header "Accept: $1" --header 'Content-Type: application/json' \
    --dump-header "$folder/headers" --output "$2" --data "$3" "$DAYBOOK_URL/api/v1/sql" <<<"header = \"Authorization: Bearer $DAYBOOK_KEY\""
}

mkdir -p "$folder"
touch "$folder/loaded.csv"
ask text/csv "$folder/answer.csv" '{"sql": "SELECT table_name, day, digest FROM digests"}'
# Everything else is read as it was published then.
published_at=$(sed -n 's/^x-daybook-published-at: *\([^ \r]*\).*/\1/Ip' "$folder/headers")
tail -n +2 "$folder/answer.csv" | tr -d '\r' | sort >"$folder/all.csv"
sort -o "$folder/loaded.csv" "$folder/loaded.csv"
: >"$folder/exported.csv"
for table in "$@"; do
  grep "^$table," "$folder/all.csv" >"$folder/wanted.csv" || {
    echo "There is no day table $table: GET /api/v1/sql/tables lists the tables." >&2
    exit 2
  }
  mkdir -p "$folder/$table"
  while IFS=, read -r _ day _; do
    file=$folder/$table/$day.parquet
    ask application/vnd.apache.parquet "$file" \
      "{\"sql\": \"SELECT * FROM $table WHERE day = \$day\", \"params\": {\"day\": \"$day\"}, \"as_of\": \"$published_at\"}"
    echo "$table $day $file"
  done < <(comm -13 "$folder/loaded.csv" "$folder/wanted.csv")
  cat "$folder/wanted.csv" >>"$folder/exported.csv"
done
rm "$folder"/{answer,all,wanted}.csv "$folder/headers"
