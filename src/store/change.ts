import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { PACKAGE_ROOT } from '../config.js';
import { DaySchema } from '../day.js';
import { UsageError } from '../exit.js';
import type { Session } from './duckdb.js';
import { quote, readSql, readSqlFolder, sha256 } from './sql.js';

/** A rate has at most six decimals: credits are computed in millionths. */
const Rate = z
  .number()
  .min(0)
  .max(1000)
  .refine((rate) => Math.abs(rate * 1e6 - Math.round(rate * 1e6)) < 1e-3, 'must have at most six decimals');

const Rates = z.strictObject({
  tier: z.enum(['standard', 'thinking']),
  rates: z
    .array(
      z.strictObject({
        valid_from: DaySchema,
        multiplier: Rate,
        cache_read_rate: Rate.default(0.1),
        cache_write_rate: Rate.default(1),
      }),
    )
    .min(1),
});

const RateCard = z.strictObject({
  $comment: z.string().optional(),
  default: Rates.default({ tier: 'standard', rates: [] }),
  models: z.array(Rates.extend({ id: z.string().min(1) })).default([]),
});

const LanguageTable = z.object({
  names: z.record(z.string(), z.string()),
  extensions: z.record(z.string(), z.string()),
});

/** Applies the changes that the database hasn't seen, and brings the tables and the data that days are built from up to date. */
export async function applyChanges(
  session: Session,
  settings: { rateCard: string; now: number },
): Promise<void> {
  await session.run(
    'CREATE TABLE IF NOT EXISTS changes (number BIGINT NOT NULL, name VARCHAR NOT NULL, applied_at TIMESTAMP(3) NOT NULL)',
  );
  const changes = readSqlFolder('change').map(({ name, text }) => ({
    number: Number(name.slice(0, 4)),
    name,
    text,
  }));
  const applied = await session.select('SELECT coalesce(max(number), 0) AS newest FROM changes');
  const newest = Number(applied[0]?.newest);
  if (newest > changes.length) {
    throw new UsageError(
      `The database was made by a newer Daybook (change ${newest}, this one knows ${changes.length}): install that version or a later one.`,
    );
  }
  await session.transaction(async () => {
    for (const change of changes.slice(newest)) {
      await session.run(change.text);
      await session.run('INSERT INTO changes VALUES ($number, $name, make_timestamp_ms($now))', {
        number: change.number,
        name: change.name,
        now: settings.now,
      });
    }
    await session.run(readSql('engine/duckdb.sql'));
    await session.run(readSql('ingest/functions.sql'));
    await defineTables(session);
    await loadRateCard(session, settings.rateCard);
    await loadLanguages(session);
  });
}

/** Whether a fact of the database differs from the one given; the new one is noted. */
async function hasChanged(session: Session, name: string, value: string): Promise<boolean> {
  const [fact] = await session.select('SELECT value FROM facts WHERE name = $name', { name });
  if (fact?.value === value) return false;
  await session.run('DELETE FROM facts WHERE name = $name', { name });
  await session.run('INSERT INTO facts VALUES ($name, $value)', { name, value });
  return true;
}

/**
 * Makes the day tables and views. Day tables can be computed again, so a table whose definition has changed is made anew,
 * and its days count as never built; days whose queries have changed stay as they are until the next build.
 */
async function defineTables(session: Session): Promise<void> {
  const schema = readSqlFolder('schema');
  const tables = schema.filter(({ text }) => text.includes('CREATE TABLE'));
  const views = schema.filter(({ text }) => text.includes('CREATE OR REPLACE VIEW'));
  if (await hasChanged(session, 'tables', sha256(tables.map(({ text }) => text).join()))) {
    for (const { name, text } of tables) await session.run(`DROP TABLE IF EXISTS ${name} CASCADE; ${text}`);
    await session.run('INSERT INTO trailing_days SELECT range FROM range(30)');
    await session.run('DELETE FROM days');
    await session.run("DELETE FROM facts WHERE name IN ('rate_card', 'language_table')");
  }
  // A view can stand on another, so those that don't find theirs yet wait for the next round.
  let waiting = views;
  while (waiting.length > 0) {
    const left: typeof views = [];
    for (const view of waiting) {
      if (waiting.some((other) => other !== view && new RegExp(`FROM ${other.name}\\b`).test(view.text)))
        left.push(view);
      else await session.run(view.text);
    }
    waiting = left;
  }
  const daily = readSqlFolder('daily').map(({ text }) => text);
  const definitions = sha256(
    [readSql('engine/duckdb.sql'), ...views.map(({ text }) => text), ...daily].join(),
  );
  if (await hasChanged(session, 'definitions', definitions)) await session.run('UPDATE days SET batch = -1');
}

async function loadRateCard(session: Session, path: string): Promise<void> {
  let text: string;
  let card: z.infer<typeof RateCard>;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    throw new UsageError(
      `The rate card ${path} can't be read: set DAYBOOK_RATE_CARD to a file, or leave it unset.`,
    );
  }
  try {
    card = RateCard.parse(JSON.parse(text));
  } catch (error) {
    const [issue] = error instanceof z.ZodError ? error.issues : [];
    const where = issue === undefined ? 'it is not JSON' : `${issue.path.join('.')}: ${issue.message}`;
    throw new UsageError(`The rate card ${path} is not as docs/rate-card.md says: ${where}.`);
  }
  if (!(await hasChanged(session, 'rate_card', sha256(text)))) return;
  await session.run('DELETE FROM rates');
  for (const { id, tier, rates } of [{ id: '', ...card.default }, ...card.models]) {
    for (const rate of rates) {
      await session.run('INSERT INTO rates VALUES ($id, $tier, $valid_from, $multiplier, $read, $write)', {
        id,
        tier,
        valid_from: { day: rate.valid_from },
        multiplier: rate.multiplier,
        read: rate.cache_read_rate,
        write: rate.cache_write_rate,
      });
    }
  }
}

async function loadLanguages(session: Session): Promise<void> {
  const text = readFileSync(join(PACKAGE_ROOT, 'data', 'languages.json'), 'utf8');
  if (!(await hasChanged(session, 'language_table', sha256(text)))) return;
  const table = LanguageTable.parse(JSON.parse(text));
  const rows = [
    ...Object.entries(table.names).map(([pattern, language]) => ['name', pattern, language]),
    ...Object.entries(table.extensions).map(([pattern, language]) => ['extension', pattern, language]),
  ];
  await session.run('DELETE FROM languages');
  await session.run(
    `INSERT INTO languages VALUES ${rows.map((row) => `(${row.map(quote).join(', ')})`).join(', ')}`,
  );
}
