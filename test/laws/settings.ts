import { storeName } from '../world.js';

/**
 * How many organizations the laws are tried on, and from which seed they are generated. The defaults are the same everywhere,
 * so that a run says the same on every machine; on ClickHouse, where a build takes seconds, they are fewer; for many more:
 *
 *   LAWS_ORGANIZATIONS=3000 LAWS_SEED=7 npx vitest run test/laws
 */
export const ORGANIZATIONS = Number(process.env.LAWS_ORGANIZATIONS ?? (storeName() === 'DuckDB' ? 40 : 8));
export const SEED = Number(process.env.LAWS_SEED ?? 20260610);

/** The smallest example of a broken law takes its time to find. */
export const TIMEOUT_MS = 900_000 + ORGANIZATIONS * 2_000;
