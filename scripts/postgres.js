// Says so if the tests of state on PostgreSQL are skipped. See test/postgres/installed.ts.
import { existsSync } from 'node:fs';

if (process.env.TEST_POSTGRES === undefined && !existsSync('/usr/lib/postgresql'))
  process.stdout.write(
    "The tests on PostgreSQL are skipped: install Debian's package postgresql, or set TEST_POSTGRES to postgres://user:password@host/database of a user who may create databases.\n",
  );
