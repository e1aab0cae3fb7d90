/** Gemini CLI. */
import { join } from 'node:path';
import type { Agent } from '../agent.js';
import { GEMINI } from '../apis/gemini.js';

export const GEMINI_CLI: Agent = {
  name: 'gemini-cli',
  packages: ['@google/gemini-cli@0.61.0'],
  node: 20,
  api: GEMINI,
  callOf: (step) => {
    switch (step.kind) {
      case 'read':
        return { tool: 'read_file', input: { file_path: step.path } };
      case 'create':
        return { tool: 'write_file', input: { file_path: step.path, content: step.content } };
      case 'edit':
        return {
          tool: 'replace',
          input: {
            file_path: step.path,
            instruction: 'Replace a word.',
            old_string: step.from,
            new_string: step.to,
          },
        };
      case 'shell':
        return { tool: 'run_shell_command', input: { command: step.command } };
    }
  },
  settings: ({ otlpUrl }) => ({
    '.gemini/settings.json': JSON.stringify({
      security: { auth: { selectedType: 'gemini-api-key' } },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: true, otlpEndpoint: otlpUrl, otlpProtocol: 'http', logPrompts: false },
    }),
  }),
  run: (prompt, isResumed, installed, { modelUrl }) => ({
    command: [
      join(installed, 'node_modules/@google/gemini-cli/bundle/gemini.js'),
      '--model=gemini-2.5-pro',
      '--approval-mode=yolo',
      '--skip-trust',
      ...(isResumed ? ['--resume', 'latest'] : []),
      '-p',
      prompt,
    ],
    environment: {
      GEMINI_API_KEY: 'dummy',
      GOOGLE_GEMINI_BASE_URL: modelUrl,
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    },
  }),
  logs: '.gemini/tmp',
  untold: [
    {
      by: ['OTLP'],
      is: { 'files created': '0', 'files edited': '0', commits: '0' },
      because: 'its telemetry names no files and no commits',
    },
    {
      by: ['OTLP'],
      is: { 'run_shell_command succeeded': '4', 'run_shell_command failed': '0' },
      because: 'its telemetry says success for a command that exits 3',
    },
  ],
};
