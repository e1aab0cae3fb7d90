import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { Engine } from './engine.js';
import { Port, WAYS } from './port.js';
import { Primary, Replica } from './replica.js';
import { StatementLog } from './statement-log.js';

const HELP = `Puts ClickHouse's own engine behind its HTTP interface, in a process of its own.

  node test/clickhouse/front/start.js --folder /tmp/one --port 8123
  node test/clickhouse/front/start.js --folder /tmp/one --port 8123 --port 8124     one engine as two servers
  node test/clickhouse/front/start.js --folder /tmp/two --port 8125 --of /tmp/one --primary http://127.0.0.1:8123
                                      a server that has later what the first one has, which runs with --log

  --folder PATH      the data, which stay
  --port N           may be given again; 0 takes a free one
  --control N        the port on which it is told what goes wrong; a free one by default
  --log              keeps the statements that change something in the folder, for another process
  --of PATH          the folder of a process with --log; with --primary URL
  --lag MS           how much later it has them

The first line that it prints is JSON with its ports. Then:

  curl -X POST 'http://127.0.0.1:CONTROL/way?port=8123&way=cut&match=^INSERT&times=1'
      ways: ${WAYS.join(', ')}
  curl -X POST 'http://127.0.0.1:CONTROL/lag?ms=500'      or ms=stopped
  curl 'http://127.0.0.1:CONTROL/'                        how far the other one is
`;

const Asked = z.object({
  port: z.coerce.number().optional(),
  way: z.enum(WAYS).optional(),
  match: z.string().optional(),
  times: z.coerce.number().optional(),
  ms: z.union([z.literal('stopped'), z.coerce.number()]).optional(),
});

/** Runs until the process is ended. */
export async function front(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      folder: { type: 'string' },
      port: { type: 'string', multiple: true, default: ['8123'] },
      control: { type: 'string', default: '0' },
      log: { type: 'boolean', default: false },
      of: { type: 'string' },
      primary: { type: 'string' },
      lag: { type: 'string', default: '0' },
      help: { type: 'boolean', default: false },
    },
  });
  const { folder } = values;
  if (values.help || folder === undefined) return void process.stdout.write(HELP);
  const uploads = join(folder, 'uploads');
  // The engine reads files of its own folder alone.
  rmSync(uploads, { recursive: true, force: true });
  mkdirSync(uploads, { recursive: true });
  const engine = new Engine(folder);
  const logOf = (other: string) => new StatementLog(join(other, 'statements'));
  const replica =
    values.of === undefined ? undefined : new Replica(engine, logOf(values.of), values.primary ?? '');
  const log = values.log ? logOf(folder) : undefined;
  const run =
    replica?.run ??
    (log === undefined
      ? async (...asked: Parameters<Engine['run']>) => ({ rows: await engine.run(...asked) })
      : new Primary(engine, log).run);
  const ports = values.port.map((number) => new Port(Number(number), uploads, run));
  for (const port of ports) await port.listen();
  if (replica !== undefined) {
    replica.lag = Number(values.lag);
    void replica.follow().catch((error) => process.stderr.write(`${error}\n`));
  }
  const control = createServer(async (request, answer) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://control');
    const asked = Asked.parse(Object.fromEntries(searchParams));
    if (pathname === '/way' && asked.way !== undefined)
      for (const one of ports)
        if (asked.port === undefined || one.port === asked.port)
          await one.take(asked.way, asked.match, asked.times);
    if (pathname === '/lag' && replica !== undefined)
      replica.lag = asked.ms === 'stopped' ? undefined : asked.ms;
    answer.end(
      `${JSON.stringify({ applied: replica?.applied, logged: log?.last, failure: replica?.failure })}\n`,
    );
  });
  control.listen(Number(values.control), '127.0.0.1');
  await once(control, 'listening');
  const opened = { ports: ports.map(({ port }) => port), control: (control.address() as AddressInfo).port };
  process.stdout.write(`${JSON.stringify(opened)}\n`);
}
