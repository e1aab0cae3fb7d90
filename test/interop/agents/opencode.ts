/** opencode. */
import { join } from 'node:path';
import type { Agent } from '../agent.js';
import { OPENAI_CHAT } from '../apis/openai-chat.js';

export const OPENCODE: Agent = {
  name: 'opencode',
  packages: ['opencode-ai@1.18.33'],
  node: 18,
  api: OPENAI_CHAT,
  callOf: (step, repo) => {
    switch (step.kind) {
      case 'read':
        return { tool: 'read', input: { filePath: join(repo, step.path) } };
      case 'create':
        return { tool: 'write', input: { filePath: join(repo, step.path), content: step.content } };
      case 'edit':
        return {
          tool: 'edit',
          input: { filePath: join(repo, step.path), oldString: step.from, newString: step.to },
        };
      case 'shell':
        return { tool: 'bash', input: { command: step.command, description: 'Runs a command' } };
    }
  },
  settings: ({ modelUrl }) => ({
    '.config/opencode/opencode.json': JSON.stringify({
      model: 'stub/stub-1',
      small_model: 'stub/stub-1',
      autoupdate: false,
      share: 'disabled',
      permission: 'allow',
      experimental: { openTelemetry: true },
      provider: {
        stub: {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: `${modelUrl}/v1`, apiKey: 'dummy' },
          models: { 'stub-1': { tool_call: true, limit: { context: 200_000, output: 8_000 } } },
        },
      },
    }),
  }),
  run: (prompt, isResumed, installed, { otlpUrl }) => ({
    command: [
      join(installed, `node_modules/opencode-${process.platform}-${process.arch}/bin/opencode`),
      'run',
      ...(isResumed ? ['--continue'] : []),
      prompt,
    ],
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: otlpUrl,
      // It ends without sending what waits: by default the last five seconds.
      OTEL_BSP_SCHEDULE_DELAY: '100',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
    },
  }),
  logs: '.local/share/opencode',
  untold: [
    {
      by: ['logs', 'run', 'logs, OTLP', 'OTLP, logs'],
      is: { 'model calls': '8', 'input tokens': '70504', 'output tokens': '4500' },
      because: 'the call for a title is only in its telemetry, and its database is the better channel',
    },
    {
      by: ['OTLP'],
      is: { turns: '0', 'files created': '0', 'files edited': '0', commits: '0' },
      because: 'its telemetry has no prompts, and names no files and no commits',
    },
    {
      by: ['OTLP'],
      is: { 'bash succeeded': [0, 4], 'bash failed': '0' },
      because: 'its telemetry says success for a command that exits 3',
    },
    {
      by: ['OTLP'],
      is: {
        'model calls': [1, 9],
        'input tokens': [1, 71_415],
        'cache reads': [0, 37_916],
        'output tokens': [1, 4_517],
        'read succeeded': [0, 1],
        'write succeeded': [0, 1],
        'edit succeeded': [0, 1],
      },
      because: 'it ends without sending its last spans',
    },
  ],
};
