import { expect, it } from 'vitest';
import { event, eventsOf, idsOf, line, rejectsOf, sharedWorld } from './event.js';

const MIB = 1 << 20;
const given = sharedWorld();

/** How many characters a text has, and which are the last. */
const ending = (text: unknown): [number, string] => {
  const characters = [...String(text)];
  return [characters.length, characters.slice(-2).join('')];
};

/** A valid line of a number of bytes, two to a character where it is padded. */
function lineOf(id: string, size: number): string {
  const room = size - Buffer.byteLength(line(id, { note: '' }));
  const text = line(id, { note: `${'é'.repeat(room >> 1)}${room % 2 === 0 ? '' : 'e'}` });
  expect(Buffer.byteLength(text)).toBe(size);
  return text;
}

it('takes lines of up to 1 MiB and rejects longer ones, and the lines around survive', async () => {
  const long = lineOf('over', MIB + 1);
  const settled = await given.world.send([line('first'), lineOf('at', MIB), long, line('last')]);
  expect(settled).toMatchObject({ accepted: 3, duplicates: 0, rejected: 1, byReason: { line_too_long: 1 } });
  expect(await idsOf(given.world, 'acme')).toEqual(['at', 'first', 'last']);
  expect(await rejectsOf(given.world, 'acme')).toMatchObject([
    {
      line_no: 3,
      reason: 'line_too_long',
      detail: expect.stringMatching(/1 MiB/),
      line: long.slice(0, 2000),
    },
  ]);
});

it('rejects a line of 20 MiB, and the lines around it survive', async () => {
  const orgId = 'lovelace';
  const long = lineOf('long', 20 * MIB);
  const settled = await given.world.send([line('first'), long, 'bad', line('last')], { orgId });
  expect(settled).toMatchObject({ accepted: 2, rejected: 2, byReason: { line_too_long: 1, not_json: 1 } });
  expect(await idsOf(given.world, orgId)).toEqual(['first', 'last']);
  expect((await rejectsOf(given.world, orgId)).map((row) => [row.line_no, row.reason, row.line])).toEqual([
    [2, 'line_too_long', long.slice(0, 2000)],
    [3, 'not_json', 'bad'],
  ]);
});

it('measures a line without the white space around it, in whatever company it comes', async () => {
  const spaces = ' '.repeat(MIB);
  const lines = [
    line('first'),
    line('behind') + spaces,
    spaces + line('before'),
    spaces + lineOf('full', MIB),
  ];
  expect(await given.world.send(lines, { orgId: 'spaces' })).toMatchObject({ accepted: 4, rejected: 0 });
  const more = [...lines, 'bad', spaces + lineOf('long', MIB + 1)];
  expect(await given.world.send(more, { orgId: 'company' })).toMatchObject({
    accepted: 4,
    rejected: 2,
    byReason: { line_too_long: 1, not_json: 1 },
  });
});

it('keeps the first 2,000 characters of a rejected line, without its line end', async () => {
  const orgId = 'kept';
  const world = given.world;
  const texts = ['short', 'é'.repeat(2500), '😀'.repeat(2500), `${'x'.repeat(1999)}😀y`];
  const settled = await world.ingest(
    [world.file('kept.ndjson', texts.map((text) => `${text}\r\n`).join(''))],
    {
      orgId,
    },
  );
  expect(settled).toMatchObject({ accepted: 0, rejected: 4 });
  expect((await rejectsOf(world, orgId)).map((row) => ending(row.line))).toEqual([
    [5, 'rt'],
    [2000, 'éé'],
    [2000, '😀😀'],
    [2000, 'x😀'],
  ]);
});

it('keeps the first 2,000 characters of a line that is too long, whatever its characters', async () => {
  const orgId = 'kept-of-long';
  const emoji = `${'x'.repeat(1999)}${'😀'.repeat(MIB / 4)}`;
  const settled = await given.world.send([event('first'), emoji, event('last')], { orgId });
  expect(settled).toMatchObject({ accepted: 2, rejected: 1 });
  expect(await rejectsOf(given.world, orgId)).toMatchObject([
    { line_no: 2, reason: 'line_too_long', line: `${'x'.repeat(1999)}😀` },
  ]);
});

it('keeps the beginning of a line that is no UTF-8, whatever its characters', async () => {
  const orgId = 'kept-of-bytes';
  const text = Buffer.concat([Buffer.from(`${'x'.repeat(1999)}😀`), Buffer.from([0xff, 0x0a])]);
  const path = given.world.file('bytes.ndjson', Buffer.concat([text, Buffer.from(line('last'))]));
  expect(await given.world.ingest([path], { orgId })).toMatchObject({ accepted: 1, rejected: 1 });
  expect(await rejectsOf(given.world, orgId)).toMatchObject([
    { line_no: 1, reason: 'not_json', line: `${'x'.repeat(1999)}😀` },
  ]);
});

it('keeps no password of an address, neither in an event nor in a rejected line', async () => {
  const orgId = 'secrets';
  const address = 'https://ci:s3cr3t@host/x.git';
  const settled = await given.world.send(
    [
      line('repo', { repo: address }),
      line('url', { type: 'pull_request', url: `${address}/pull/1?token=s3cr3t` }),
      line('command', { type: 'hook_run', hook_event: 'Stop', command: `git push ${address}` }),
      line('bad', { repo: address, user_id: '' }),
      // The line is cut off after 2,000 characters: in the middle of the password.
      line('cut', {
        cwd: 'x'.repeat(1850),
        repo: address.replace('s3cr3t', 's3cr3t'.repeat(50)),
        user_id: '',
      }),
    ],
    { orgId },
  );
  expect(settled).toMatchObject({ accepted: 3, rejected: 2 });
  const events = await eventsOf(given.world, orgId);
  expect(events.map(({ repo, url, command }) => repo ?? url ?? command).sort()).toEqual([
    'git push https://host/x.git',
    'https://host/x.git',
    'https://host/x.git/pull/1?token=***',
  ]);
  const rejects = await rejectsOf(given.world, orgId);
  expect(JSON.stringify([events, rejects])).not.toContain('s3cr3t');
  expect(rejects[0]?.line).toContain('"repo":"https://host/x.git"');
});
