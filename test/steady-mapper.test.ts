import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { EventMapper } from '../src/collect/event-mapper.js';
import { SteadyMapper } from '../src/collect/steady-mapper.js';
import { inputFiles } from '../src/ingest/input-files.js';
import { CANONICAL } from '../src/ingest/source.js';
import { isReadFault, StoreUnavailable } from '../src/store/store-fault.js';
import { event, lines, NOW, temporaryFolder } from './world.js';

/** A mapper, its engines, and a file with one event. */
function world() {
  const folder = temporaryFolder();
  const engines: EventMapper[] = [];
  const mapper = new SteadyMapper(folder, async (work) => {
    const engine = await EventMapper.open(work);
    engines.push(engine);
    return engine;
  });
  onTestFinished(() => mapper.close());
  const path = join(folder, 'events.ndjson');
  writeFileSync(path, lines([event('1')]));
  const map = () => mapper.map(CANONICAL, inputFiles([path], CANONICAL), 'ada', NOW);
  return { folder, engines, mapper, map };
}

test('an engine that has given up is replaced, and what it was given is mapped', async () => {
  const { engines, map } = world();
  const first = await map();
  expect(first.events).toHaveLength(1);
  expect(await map()).toEqual(first);
  expect(engines).toHaveLength(1);
  engines[0]?.close();
  expect(await map()).toEqual(first);
  expect(engines).toHaveLength(2);
});

test('a file fails once an engine of its own has failed, and the next file has another one', async () => {
  const { folder, engines, mapper, map } = world();
  const sql = temporaryFolder();
  writeFileSync(
    join(sql, 'events.sql'),
    "SELECT source, error('no event') AS event_id, 1 AS occurred_ms FROM lines",
  );
  await map();
  const files = inputFiles([join(folder, 'events.ndjson')], CANONICAL);
  await expect(mapper.map({ ...CANONICAL, sql }, files, 'ada', NOW)).rejects.toThrow('no event');
  expect(engines).toHaveLength(2);
  expect((await map()).events).toHaveLength(1);
  expect(engines).toHaveLength(3);
});

test('an engine that can not be opened is no fault of a file', async () => {
  const { folder } = world();
  // It is a file.
  const mapper = new SteadyMapper(join(folder, 'events.ndjson'));
  await expect(mapper.map(CANONICAL, [], 'ada', NOW)).rejects.toThrow(StoreUnavailable);
});

test.skipIf(process.platform !== 'linux')(
  'a file that the system fails to read is told from others',
  async () => {
    const { mapper } = world();
    // Whoever reads it gets EIO.
    const files = inputFiles(['/proc/self/mem'], CANONICAL);
    await expect(mapper.map(CANONICAL, files, 'ada', NOW)).rejects.toSatisfy(isReadFault);
  },
);
