import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { randomOf } from '../random.js';
import { compare } from './outcome.js';
import { PowerLoss } from './power-loss.js';
import { KILLS, SEED } from './settings.js';
import { drain, Site } from './site.js';

const FAILURES = Math.ceil(KILLS / 5);

test(`a power failure loses nothing that was acknowledged, seed ${SEED}`, async (context) => {
  const site = new Site();
  const disk = PowerLoss.of(site.data, randomOf(SEED));
  if (disk === undefined) return context.skip('Only gcc on Linux can compile what records syncs.');
  site.preloaded = [disk];
  const senders = await site.senders();
  for (let failures = 0; failures < FAILURES; failures += 1) {
    disk.begin();
    const service = site.serve();
    await site.serving(service);
    const command = site.upTo(2) === 0 ? site.start('build', '--all') : undefined;
    const end = command === undefined ? undefined : once(command, 'close');
    if (site.upTo(2) === 0) await disk.untilLogIsUnsynced(service);
    else await wait(site.upTo(3000));
    await site.kill('power', service, 0);
    command?.kill('SIGKILL');
    await end;
    // Until the power fails, whoever starts finds what the killed process has written, synced or not.
    if (site.upTo(2) === 0) {
      const build = site.start('build');
      await disk.untilLogIsUnsynced(build);
      await site.kill('build', build, 0);
    }
    disk.fail();
  }
  for (const sender of senders) await sender.stop();
  site.preloaded = [];
  await drain(site);
  const totals = await compare(site, { isCopied: true });
  console.log(`${FAILURES} power failures: ${JSON.stringify(totals)}`);
  expect(totals.acknowledged).toBeGreaterThan(0);
}, 3_600_000);
