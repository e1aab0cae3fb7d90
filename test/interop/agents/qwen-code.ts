/** Qwen Code. */
import { join } from 'node:path';
import type { Agent } from '../agent.js';
import { OPENAI_CHAT } from '../apis/openai-chat.js';

export const QWEN_CODE: Agent = {
  name: 'qwen-code',
  packages: ['@qwen-code/qwen-code@0.24.4'],
  node: 22,
  api: OPENAI_CHAT,
  callOf: (step, repo) => {
    switch (step.kind) {
      case 'read':
        return { tool: 'read_file', input: { file_path: join(repo, step.path) } };
      case 'create':
        return { tool: 'write_file', input: { file_path: join(repo, step.path), content: step.content } };
      case 'edit':
        return {
          tool: 'edit',
          input: { file_path: join(repo, step.path), old_string: step.from, new_string: step.to },
        };
      case 'shell':
        return { tool: 'run_shell_command', input: { command: step.command, is_background: false } };
    }
  },
  settings: ({ otlpUrl }) => ({
    '.qwen/settings.json': JSON.stringify({
      security: { auth: { selectedType: 'openai' } },
      general: { disableAutoUpdate: true, disableUpdateNag: true },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: true, otlpEndpoint: otlpUrl, otlpProtocol: 'http', logPrompts: false },
    }),
  }),
  run: (prompt, isResumed, installed, { modelUrl }) => ({
    command: [
      join(installed, 'node_modules/@qwen-code/qwen-code/cli-entry.js'),
      '--approval-mode=yolo',
      ...(isResumed ? ['--continue'] : []),
      '-p',
      prompt,
    ],
    environment: { OPENAI_API_KEY: 'dummy', OPENAI_BASE_URL: `${modelUrl}/v1`, OPENAI_MODEL: 'stub-1' },
  }),
  logs: '.qwen/projects',
  untold: [
    {
      by: ['OTLP'],
      is: { 'files created': '0', 'files edited': '0', commits: '0' },
      because: 'its telemetry names no files and no commits',
    },
  ],
};
