import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EventMapper } from '../../src/collect/event-mapper.js';
import { inputFiles } from '../../src/ingest/input-files.js';
import { SOURCES } from '../../src/ingest/source.js';
import { event, lines, NOW, temporaryFolder, World } from '../world.js';

// They are counted while a source's SQL reads the lines: see defineSource.
test.for(SOURCES.filter(({ unit }) => unit === 'line'))(
  'a line that is no JSON counts once for $name',
  async (source) => {
    const folder = temporaryFolder();
    const path = join(folder, 'lines.jsonl');
    writeFileSync(path, '{"type":"cut o\n');
    const mapper = await EventMapper.open(folder);
    try {
      expect(await mapper.map(source, inputFiles([path], source), 'ada', NOW)).toMatchObject({ rejected: 1 });
    } finally {
      mapper.close();
    }
  },
);

test('damaged files take the memory of their lines, however many there are', async () => {
  const world = await World.create({ DAYBOOK_MEMORY_MB: '256' });
  const folder = temporaryFolder();
  const text = 'x'.repeat(5000);
  const files = Array.from({ length: 60 }, (_, index) => join(folder, `${index}.ndjson`));
  for (const [index, path] of files.entries()) {
    const whole = Array.from({ length: 60 }, (_, line) => event(`${index}-${line}`, { text }));
    writeFileSync(path, lines([...whole, '{"type":"cut o']));
  }
  expect(await world.ingest(files)).toMatchObject({ accepted: 3600, rejected: 60 });
});
