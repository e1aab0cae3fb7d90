import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from './random.js';

/**
 * Transcripts as Claude Code writes them, in thousands of files. The shares of the kinds of lines and their sizes are
 * those of 248 real files of nine public projects (55 MB): of the bytes, 55 % are results of tools, most of them twice in
 * a line (for the model and for the program), 30 % answers of the model in a line per block with a usage that grows,
 * 3 % output of sub-agents in progress lines; 2.7 kB a line on average.
 */

const WORDS =
  'const return await import function export interface string number value result error config request response session user token store table index build test path file line read write open close check parse query batch event day report count total\\n  \\t { } ( ) [ ] => === \\" , ; : // the of and to in is it for that with as'.split(
    ' ',
  );
const TOOLS = [
  'Bash',
  'Bash',
  'Bash',
  'Bash',
  'Read',
  'Read',
  'Edit',
  'Edit',
  'Grep',
  'TodoWrite',
  'Write',
  'Glob',
  'mcp__linear__get_issue',
];
const MODELS = [
  'claude-opus-4-5-20251101',
  'claude-sonnet-4-5-20250929',
  'claude-haiku-4-5-20251001',
  'claude-opus-4-8',
];
const MODES = ['default', 'acceptEdits', 'bypassPermissions', 'plan'];

/** A source of texts that are JSON-escaped already: pieces of one long text. */
function textSource(random: Random): (length: number) => string {
  let long = '';
  while (long.length < 400_000) long += `${random.pick(WORDS)} `;
  return (length) => {
    const start = random.below(long.length - length - 2);
    // Not between a backslash and what it escapes.
    return long
      .slice(start, start + length)
      .replace(/^["nt]/, '')
      .replace(/\\+$/, '');
  };
}

/** Sizes as in real files: many small ones, few large ones. */
function size(random: Random, typical: number): number {
  return Math.min(
    60_000,
    Math.floor(typical * (0.15 + 4 * random.next() ** 4 + (random.next() < 0.03 ? 8 : 0))),
  );
}

function session(
  random: Random,
  text: (length: number) => string,
  firstDay: number,
  days: number,
  bytes: number,
): string {
  const sessionId = random.uuid();
  const project = `/home/dev${random.below(40)}/src/project${random.below(12)}`;
  const model = random.pick(MODELS);
  let at = firstDay + random.below(days) * 86_400_000 + random.below(60_000_000);
  const lines: string[] = [];
  let length = 0;
  let parent = random.uuid();
  const add = (type: string, rest: string) => {
    at += 200 + random.below(4000);
    const uuid = random.uuid();
    const line = `{"parentUuid":"${parent}","isSidechain":false,"userType":"external","cwd":"${project}","sessionId":"${sessionId}","version":"2.1.29","gitBranch":"main","type":"${type}",${rest},"uuid":"${uuid}","timestamp":"${new Date(at).toISOString()}","entrypoint":"cli"}`;
    parent = uuid;
    lines.push(line);
    length += line.length;
  };
  while (length < bytes) {
    add(
      'user',
      `"message":{"role":"user","content":"${text(size(random, 500))}"},"permissionMode":"${random.pick(MODES)}","promptSource":"typed"`,
    );
    const answers = 4 + random.below(24);
    for (let answer = 0; answer < answers && length < bytes; answer += 1) {
      const message = `msg_01${random.hex(22)}`;
      const request = `req_01${random.hex(22)}`;
      const input = random.below(40);
      const written = random.below(4000);
      const read = 10_000 + random.below(120_000);
      const say = (block: string, output: number) =>
        add(
          'assistant',
          `"message":{"model":"${model}","id":"${message}","type":"message","role":"assistant","content":[${block}],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":${input},"cache_creation_input_tokens":${written},"cache_read_input_tokens":${read},"cache_creation":{"ephemeral_5m_input_tokens":${written},"ephemeral_1h_input_tokens":0},"output_tokens":${output},"service_tier":"standard"}},"requestId":"${request}"`,
        );
      if (random.next() < 0.5)
        say(
          `{"type":"thinking","thinking":"${text(size(random, 900))}","signature":"${random.hex(600)}"}`,
          1 + random.below(3),
        );
      if (random.next() < 0.47)
        say(`{"type":"text","text":"${text(size(random, 450))}"}`, 3 + random.below(30));
      const tool = random.pick(TOOLS);
      const id = `toolu_01${random.hex(22)}`;
      const file = `${project}/src/module${random.below(200)}.${random.pick(['ts', 'ts', 'py', 'go', 'md', 'sql'])}`;
      const command =
        random.next() < 0.02 ? `git add -A && git commit -m \\"${text(40)}\\"` : text(size(random, 150));
      const toolInput =
        tool === 'Bash'
          ? `{"command":"${command}","description":"${text(60)}"}`
          : tool === 'Edit'
            ? `{"file_path":"${file}","old_string":"${text(size(random, 400))}","new_string":"${text(size(random, 500))}"}`
            : tool === 'Write'
              ? `{"file_path":"${file}","content":"${text(size(random, 3000))}"}`
              : `{"file_path":"${file}"}`;
      say(`{"type":"tool_use","id":"${id}","name":"${tool}","input":${toolInput}}`, 50 + random.below(900));
      if (random.next() < 0.12)
        add(
          'progress',
          `"data":{"type":"hook_progress","hookEvent":"PostToolUse","hookName":"PostToolUse:${tool}","command":"npx biome check"},"toolUseID":"${id}"`,
        );
      if (random.next() < 0.15)
        add(
          'progress',
          `"data":{"type":"bash_progress","output":"${text(size(random, 400))}","elapsedTimeSeconds":3,"totalLines":4},"toolUseID":"${id}"`,
        );
      if (random.next() < 0.05)
        add(
          'progress',
          `"data":{"type":"agent_progress","message":{"type":"user","message":{"role":"user","content":"${text(size(random, 3000))}"}}},"toolUseID":"${id}"`,
        );
      const failed = random.next() < 0.06;
      const shown = text(size(random, tool === 'Read' ? 7000 : 2200));
      const result = failed
        ? `"Error: ${text(120)}"`
        : tool === 'Bash'
          ? `{"stdout":"${shown}","stderr":"","interrupted":false,"isImage":false}`
          : tool === 'Edit'
            ? `{"filePath":"${file}","oldString":"${text(300)}","newString":"${text(400)}","originalFile":"${text(size(random, 9000))}","structuredPatch":[{"oldStart":1,"oldLines":3,"newStart":1,"newLines":4,"lines":[" ${text(40)}","-${text(60)}","+${text(60)}","+${text(50)}"," ${text(40)}"]}],"userModified":false,"replaceAll":false}`
            : tool === 'Write'
              ? `{"type":"create","filePath":"${file}","content":"${text(size(random, 3000))}","structuredPatch":[]}`
              : `{"type":"text","file":{"filePath":"${file}","content":"${shown}","numLines":120}}`;
      add(
        'user',
        `"message":{"role":"user","content":[{"tool_use_id":"${id}","type":"tool_result","content":"${shown}","is_error":${failed}}]},"toolUseResult":${result},"sourceToolAssistantUUID":"${parent}"`,
      );
    }
    add(
      'system',
      `"subtype":"stop_hook_summary","hookCount":1,"hookInfos":[{"command":"npm run lint","durationMs":340}],"hookErrors":[],"preventedContinuation":false,"toolUseID":"${random.uuid()}"`,
    );
    lines.push(
      `{"type":"file-history-snapshot","messageId":"${random.uuid()}","snapshot":{"trackedFileBackups":{}},"isSnapshotUpdate":false}`,
    );
  }
  return `${lines.join('\n')}\n`;
}

/** Writes transcripts of some bytes and days into `folder/projects`, unless they are there. Answers the folder. */
export function generateTranscripts(
  folder: string,
  bytes: number,
  files: number,
  { from = '2026-05-01', days = 30 } = {},
): string {
  const done = join(folder, `transcripts-${bytes}-${files}-${days}`);
  if (existsSync(done)) return done;
  const random = new Random(20260610);
  const text = textSource(random);
  const partial = `${done}.partial`;
  const firstDay = Date.parse(`${from}T06:00:00.000Z`);
  for (let file = 0; file < files; file += 1) {
    const project = join(partial, 'projects', `-home-dev-project${file % 60}`);
    mkdirSync(project, { recursive: true });
    // Most sessions are short, a few are long.
    const share = 0.2 + 1.6 * random.next();
    writeFileSync(
      join(project, `${random.uuid()}.jsonl`),
      session(random, text, firstDay, days, (bytes / files) * share),
    );
  }
  renameSync(partial, done);
  return done;
}
