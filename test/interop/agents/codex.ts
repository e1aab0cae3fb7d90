/** Codex CLI. */
import { join } from 'node:path';
import type { Agent } from '../agent.js';
import { OPENAI_RESPONSES } from '../apis/openai-responses.js';

const shell = (cmd: string) => ({ tool: 'exec_command', input: { cmd } });
const patch = (...lines: string[]) => ({
  tool: 'apply_patch',
  input: ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n'),
});

export const CODEX: Agent = {
  name: 'codex',
  packages: ['@openai/codex@0.169.0'],
  node: 16,
  api: OPENAI_RESPONSES,
  callOf: (step) => {
    switch (step.kind) {
      case 'read':
        return shell(`cat ${step.path}`);
      case 'create':
        return patch(`*** Add File: ${step.path}`, `+${step.content.trimEnd()}`);
      case 'edit':
        return patch(`*** Update File: ${step.path}`, '@@', `-${step.from}`, `+${step.to}`);
      case 'shell':
        return shell(step.command);
    }
  },
  settings: ({ modelUrl, otlpUrl, repo }) => ({
    '.codex/config.toml': `
model = "gpt-5.5"
model_provider = "stub"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[model_providers.stub]
name = "stub"
base_url = "${modelUrl}/v1"
wire_api = "responses"
env_key = "STUB_KEY"

[otel]
exporter = { otlp-http = { endpoint = "${otlpUrl}/v1/logs", protocol = "binary" } }
metrics_exporter = { otlp-http = { endpoint = "${otlpUrl}/v1/metrics", protocol = "binary" } }

[projects."${repo}"]
trust_level = "trusted"
`,
  }),
  run: (prompt, isResumed, installed) => ({
    command: [
      join(installed, 'node_modules/@openai/codex/bin/codex.js'),
      'exec',
      ...(isResumed ? ['resume', '--last'] : []),
      prompt,
    ],
    environment: { STUB_KEY: 'dummy' },
  }),
  logs: '.codex',
  untold: [
    {
      by: ['OTLP'],
      is: { 'files created': '0', 'files edited': '0', commits: '0' },
      because: 'its telemetry names no files and no commits',
    },
  ],
};
