import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { DATABASE } from '../src/disk/data-files.js';
import { readConfig } from '../src/settings/config.js';
import { DuckDbStore } from '../src/store/duckdb-store.js';
import { NOW } from './world.js';

/**
 * Makes what all tests start from, and removes at the end of a run what they have left: the engines of tests keep their files
 * until their process is gone.
 */
export default async function folder(project: TestProject): Promise<() => void> {
  const data = await mkdtemp(join(tmpdir(), 'empty-'));
  const config = readConfig({ DAYBOOK_DATA: data });
  const store = await DuckDbStore.open(data, { ...config, now: NOW });
  await store.close();
  project.provide('emptyDatabase', join(data, DATABASE));
  return () => rmSync(tmpdir(), { recursive: true, force: true });
}
