/** Claude Code. */
import { join } from 'node:path';
import type { Agent } from '../agent.js';
import { ANTHROPIC_MESSAGES } from '../apis/anthropic-messages.js';

export const CLAUDE_CODE: Agent = {
  name: 'claude-code',
  packages: ['@anthropic-ai/claude-code@2.1.332'],
  // Its package asks for 22, but runs a binary of its own.
  node: 20,
  api: ANTHROPIC_MESSAGES,
  callOf: (step, repo) => {
    switch (step.kind) {
      case 'read':
        return { tool: 'Read', input: { file_path: join(repo, step.path) } };
      case 'create':
        return { tool: 'Write', input: { file_path: join(repo, step.path), content: step.content } };
      case 'edit':
        return {
          tool: 'Edit',
          input: { file_path: join(repo, step.path), old_string: step.from, new_string: step.to },
        };
      case 'shell':
        return { tool: 'Bash', input: { command: step.command, description: 'Run a command' } };
    }
  },
  settings: () => ({ '.claude/settings.json': '{}' }),
  run: (prompt, isResumed, installed, { modelUrl, otlpUrl }) => ({
    command: [
      join(installed, 'node_modules/@anthropic-ai/claude-code/cli-wrapper.cjs'),
      ...['--model', 'claude-sonnet-5', '--permission-mode', 'acceptEdits', '--allowedTools', 'Bash'],
      ...(isResumed ? ['--continue'] : []),
      ...['-p', prompt],
    ],
    environment: {
      ANTHROPIC_BASE_URL: modelUrl,
      ANTHROPIC_API_KEY: 'dummy',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      CLAUDE_CODE_ENABLE_TELEMETRY: '1',
      OTEL_LOGS_EXPORTER: 'otlp',
      OTEL_METRICS_EXPORTER: 'otlp',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_EXPORTER_OTLP_ENDPOINT: otlpUrl,
      OTEL_LOG_TOOL_DETAILS: '1',
      OTEL_METRICS_INCLUDE_REPOSITORY: 'true',
    },
  }),
  logs: '.claude/projects',
  untold: [],
};
