import { defineConfig } from 'vitest/config';
import { isInstalled } from './test/clickhouse/engine.js';

/** Tests of what a store does, whichever it is. The others don't open one, or open that of a command. */
const ON_EVERY_STORE = [
  'test/api.test.ts',
  'test/claims.test.ts',
  'test/clickhouse/*.test.ts',
  'test/computers.test.ts',
  'test/files.test.ts',
  'test/golden.test.ts',
  'test/laws/arrival.test.ts',
  'test/laws/numbers.test.ts',
  'test/laws/views.test.ts',
];

export default defineConfig({
  test: {
    testTimeout: 300_000,
    // By default one processor stays idle, and most of the time is engines that wait for one.
    maxWorkers: 2,
    hookTimeout: 600_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'DuckDB',
          include: ['test/**/*.test.ts'],
          exclude: ['test/clickhouse/**', '**/node_modules/**'],
          provide: { store: 'DuckDB' },
        },
      },
      ...(isInstalled()
        ? [
            {
              extends: true as const,
              test: {
                name: 'ClickHouse',
                include: ON_EVERY_STORE,
                provide: { store: 'ClickHouse' as const },
              },
            },
          ]
        : []),
    ],
  },
});
