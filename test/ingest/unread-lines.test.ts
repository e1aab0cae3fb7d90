import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EventMapper } from '../../src/collect/event-mapper.js';
import { inputFiles } from '../../src/ingest/input-files.js';
import { SOURCES } from '../../src/ingest/source.js';
import { NOW, temporaryFolder } from '../world.js';

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
