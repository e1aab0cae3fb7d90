import { chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { inputFiles } from '../../src/ingest/input-files.js';
import { CANONICAL, CLAUDE_CODE } from '../../src/ingest/source.js';
import { expandPaths } from '../../src/settings/config.js';
import { temporaryFolder } from '../world.js';

/** A home with files, and what is found there. */
function home(...files: string[]) {
  const root = temporaryFolder();
  const at = (name: string) => join(root, name);
  for (const name of files) {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), '{}\n');
  }
  const link = (name: string, target: string) => {
    mkdirSync(dirname(at(name)), { recursive: true });
    symlinkSync(at(target), at(name));
  };
  const found = (paths: readonly string[], source = CLAUDE_CODE) => {
    const leftOut: string[] = [];
    const read = inputFiles(paths.map(at), source, ({ message }) => leftOut.push(message));
    return {
      files: read.map(({ path }) => path.replace(`${root}/`, '')),
      leftOut: leftOut.map((one) => one.replaceAll(`${root}/`, '')),
    };
  };
  return { root, at, link, found };
}

afterEach(() => vi.unstubAllEnvs());

describe('a link to a folder', () => {
  test('is read once, under its real path', () => {
    const { link, found } = home('projects/a/1.jsonl', 'elsewhere/b/2.jsonl');
    link('projects/b', 'elsewhere/b');
    link('projects/c', 'elsewhere/b');
    link('projects/d', 'projects/a');
    expect(found(['projects'])).toEqual({
      files: ['projects/a/1.jsonl', 'elsewhere/b/2.jsonl'],
      leftOut: [],
    });
  });

  test('gives no file twice if another link leads above it', () => {
    const { link, found } = home('elsewhere/b/2.jsonl', 'elsewhere/c/3.jsonl');
    link('projects/b', 'elsewhere/b');
    link('projects/c', 'elsewhere');
    expect(found(['projects'])).toEqual({
      files: ['elsewhere/b/2.jsonl', 'elsewhere/c/3.jsonl'],
      leftOut: [],
    });
  });

  test('that it lies in is passed over and named', () => {
    const { link, found } = home('all/projects/a/1.jsonl');
    link('all/projects/a/up', 'all');
    link('all/projects/here', 'all/projects');
    expect(found(['all/projects'])).toEqual({
      files: ['all/projects/a/1.jsonl'],
      leftOut: [
        'all/projects/a/up is left out, because it is a link to all, which it lies in.',
        'all/projects/here is left out, because it is a link to all/projects, which it lies in.',
      ],
    });
  });

  test.skipIf(process.getuid?.() !== 0)('of another user is passed over and named', () => {
    const { at, link, found } = home('projects/a/1.jsonl', 'theirs/2.jsonl');
    link('projects/b', 'theirs');
    chownSync(at('theirs'), 12345, 12345);
    expect(found(['projects'])).toEqual({
      files: ['projects/a/1.jsonl'],
      leftOut: ['projects/b is left out, because it is a link to theirs, which belongs to another user.'],
    });
  });

  test('that is gone, and one to a file of another kind, is nothing', () => {
    const { link, found } = home('projects/a/1.jsonl', 'notes.txt');
    link('projects/b', 'gone');
    link('projects/c', 'notes.txt');
    expect(found(['projects'])).toEqual({ files: ['projects/a/1.jsonl'], leftOut: [] });
  });

  test('is not followed where events lie that no agent wrote', () => {
    const { link, found } = home('events/1.ndjson', 'elsewhere/2.ndjson');
    link('events/b', 'elsewhere');
    expect(found(['events'], CANONICAL).files).toEqual(['events/1.ndjson']);
  });
});

describe('the folders of Claude', () => {
  test('are read once if one is a link to another', () => {
    const { link, found } = home('.claude/projects/a/1.jsonl');
    link('.config/claude', '.claude');
    expect(found(['.claude/projects', '.config/claude/projects'])).toEqual({
      files: ['.claude/projects/a/1.jsonl'],
      leftOut: [],
    });
  });

  test('can be several, of the variable or by default', () => {
    const root = temporaryFolder();
    vi.stubEnv('HOME', root);
    vi.stubEnv('CLAUDE_CONFIG_DIR', '');
    const [folders = ''] = CLAUDE_CODE.folders;
    expect(expandPaths(folders)).toEqual([`${root}/.claude/projects`, `${root}/.config/claude/projects`]);
    vi.stubEnv('CLAUDE_CONFIG_DIR', '/srv/a, ~/b,');
    expect(expandPaths(folders)).toEqual(['/srv/a/projects', `${root}/b/projects`]);
    mkdirSync(join(root, 'a,b'));
    vi.stubEnv('CLAUDE_CONFIG_DIR', join(root, 'a,b'));
    expect(expandPaths(folders)).toEqual([`${root}/a,b/projects`]);
  });

  test('of the desktop app have transcripts, and copies that are left out', () => {
    const session = 'local-agent-mode-sessions/o/a/local_1';
    const { found } = home(
      `${session}/.claude/projects/p/1.jsonl`,
      `${session}/.claude/projects/p/1/subagents/agent-1.jsonl`,
      `${session}/audit.jsonl`,
      `${session}/outputs/data.jsonl`,
      'saved/audit.jsonl',
    );
    expect(found(['local-agent-mode-sessions', 'saved']).files).toEqual([
      `${session}/.claude/projects/p/1/subagents/agent-1.jsonl`,
      `${session}/.claude/projects/p/1.jsonl`,
    ]);
  });
});
