import { z } from 'zod';
import { HooksConfig } from '../hooks/hooks-config.js';
import { NOT_BLANK } from '../name-text.js';
import { hasCredentials } from '../url-credentials.js';
import { AddressRange } from './allowed-addresses.js';

const flag = z.boolean().optional();
/** A name, or '' if there is none. */
const oneName = z.string().regex(/^$|\S/, NOT_BLANK[1]);
const text = oneName.optional();
const texts = z.array(oneName).optional();
const words = z.string().optional();
const open = z.record(z.string(), z.unknown()).optional();
const amount = z.number().min(0).optional();
const port = z.int().min(0).max(65_535).optional();
const emails = z
  .array(
    z
      .string()
      .regex(/^\S+@\S+$/, 'must be an e-mail address')
      .max(320),
  )
  .optional();

const NO_CREDENTIALS =
  'must not have an address with a password or token: put that into env, which is stored encrypted';

/** The paths of texts with such an address, except secrets: see mapSecrets. */
function* addressesWithCredentials(
  value: unknown,
  path: readonly string[] = [],
): Generator<readonly string[]> {
  const [first, , third = ''] = path;
  if (first === 'env' || (first === 'customModels' && ['apiKey', 'extraHeaders'].includes(third))) return;
  if (typeof value === 'string' && hasCredentials(value)) yield path;
  if (typeof value === 'object' && value !== null)
    for (const [name, member] of Object.entries(value))
      yield* addressesWithCredentials(member, [...path, name.slice(0, 100)]);
}

/** The events that hooks can be configured for (public-api.md 6.1), and two switches. */
const { hooksDisabled, showHookOutput, ...events } = HooksConfig.shape;
const AN_EVENT = `is not a hook event: use ${Object.keys(events).join(', ')}, or ${Object.keys({ hooksDisabled, showHookOutput }).join(' or ')}`;

/** The hooks that an organization controls. A misspelt event would be a rule that never runs. */
const Hooks = HooksConfig.superRefine((hooks, context) => {
  for (const name of Object.keys(hooks))
    if (!Object.hasOwn(HooksConfig.shape, name))
      context.addIssue({ code: 'custom', path: [name.slice(0, 100)], message: AN_EVENT });
}).meta({ additionalProperties: false });

const CustomModel = z.looseObject({
  model: text,
  id: text,
  index: z.number().optional(),
  baseUrl: text,
  apiKey: text,
  displayName: text,
  maxContextLimit: amount,
  enableThinking: flag,
  thinkingMaxTokens: amount,
  maxOutputTokens: amount,
  extraHeaders: open,
  extraArgs: open,
  noImageSupport: flag,
  cloudhosted: z
    .looseObject({
      cloudProfile: text,
      cloudRegion: text,
      cloudhostedBaseUrl: text,
      cloudAuthRefresh: text,
      cloudCredentialExport: text,
    })
    .optional(),
  baseModelId: z.unknown().optional(),
  useInRouter: flag,
});

/** An example with every member, for the reference and for tests. */
export const EXAMPLE = {
  sessionDefaultSettings: { model: 'claude-opus-4-5', specModeModel: 'claude-opus-4-5', runInWorktree: true },
  subagentModelSettings: { lightModel: 'light', mediumModel: 'medium', heavyModel: 'heavy' },
  mcpAutonomyOverrides: { github: 'auto-low' },
  mcpAutonomyUrlOverrides: [{ urlPattern: 'https://mcp.acme.example/*' }],
  builtInToolAutonomyOverrides: { Execute: 'manual' },
  cloudSessionSync: true,
  voiceDictationEnabled: false,
  wikiCloudSync: false,
  advancedAnalyticsEnabled: true,
  localSignalsOptIn: false,
  includeCoAuthoredByAgent: true,
  enableAgentShield: true,
  agentShield20OptIn: false,
  ideAutoConnect: true,
  commandAllowlist: ['npm test'],
  commandDenylist: ['sudo'],
  commandBlocklist: ['rm -rf /'],
  customModels: [
    {
      model: 'acme-large',
      id: 'custom:acme-large',
      index: 0,
      baseUrl: 'https://models.acme.example/v1',
      apiKey: '***',
      displayName: 'Acme Large',
      maxContextLimit: 200_000,
      enableThinking: true,
      thinkingMaxTokens: 8192,
      maxOutputTokens: 16_384,
      extraHeaders: { 'x-team': '***' },
      extraArgs: { temperature: 0.2 },
      noImageSupport: false,
      cloudhosted: {
        cloudProfile: 'production',
        cloudRegion: 'eu-1',
        cloudhostedBaseUrl: 'https://cloud.acme.example',
        cloudAuthRefresh: 'acme login',
        cloudCredentialExport: 'acme token',
      },
      baseModelId: 'claude-opus-4-5',
      useInRouter: true,
    },
  ],
  modelPolicy: {
    allowedModelIds: ['claude-opus-4-5'],
    blockedModelIds: ['old-model'],
    allowCustomModels: true,
    allowedBaseUrls: ['https://models.acme.example'],
    allowAllPlatformModels: false,
    isFastModelsAllowed: true,
    requireExplicitOptInModelIds: ['claude-opus-4-5'],
    allowPlatformRouterByok: false,
    platformRouterByokOnly: false,
  },
  mcpPolicy: { enabled: true, allowlist: ['github'] },
  missionPolicy: { restrictedAccess: true, allowedUserIds: ['ada'] },
  userModelPolicies: { ada: { allowedModelIds: ['claude-opus-4-5'] } },
  enabledPlugins: { 'formatter@acme': true },
  disabledSkills: ['release-notes'],
  extraKnownMarketplaces: { acme: { source: { source: 'codehost', repo: 'acme/plugins' } } },
  strictKnownMarketplaces: [
    {
      source: 'codehost' as const,
      repo: 'acme/plugins',
      ref: 'main',
      sha: '0123456789abcdef0123456789abcdef01234567',
    },
  ],
  networkPolicy: { allowedIps: ['127.0.0.1', '::1', '10.0.0.0/8', '2001:db8::/32'] },
  sandbox: {
    enabled: true,
    filesystem: { allowWrite: ['./'], allowRead: ['/usr'], denyWrite: ['/etc'], denyRead: ['/root'] },
    network: {
      allowedDomains: ['registry.acme.example'],
      allowUnixSockets: ['/var/run/docker.sock'],
      allowAllUnixSockets: false,
      allowLocalBinding: true,
      httpProxyPort: 8080,
      socksProxyPort: 1080,
    },
  },
  allowManagedHooksOnly: false,
  hooks: {
    hooksDisabled: false,
    showHookOutput: true,
    PostToolUse: [
      {
        matcher: 'Edit|Write',
        commandRegex: '',
        hooks: [{ type: 'command' as const, command: 'npm run format', timeout: 30 }],
      },
    ],
  },
  restrictMemberVisibility: false,
  restrictApiKeyCreationToManagers: true,
  managedComputersEnabled: true,
  byomComputersEnabled: true,
  disableAutoUpdate: false,
  disableWeeklyUsageSummary: true,
  managedComputersAllowedEmails: ['ada@acme.example'],
  byomComputersAllowedEmails: ['grace@acme.example'],
  personaSettings: { enabledRoles: ['developer'], personaConnectors: { github: true } },
  sessionRetentionDays: 90,
  platformRouterGuidance: 'Prefer the small model.',
  platformRouterRules: [{ guidance: 'Use the large model.', when: 'The task spans files.' }],
  env: { ACME_TOKEN: '***' },
};

/** The settings that an organization's owner controls (public-api.md 2.9). Members that it doesn't list are kept. */
export const Settings = z
  .looseObject({
    sessionDefaultSettings: z
      .looseObject({ model: text, specModeModel: text, runInWorktree: flag })
      .optional(),
    subagentModelSettings: z
      .looseObject({ lightModel: text, mediumModel: text, heavyModel: text })
      .optional(),
    mcpAutonomyOverrides: open,
    mcpAutonomyUrlOverrides: z.array(z.looseObject({ urlPattern: text })).optional(),
    builtInToolAutonomyOverrides: open,
    cloudSessionSync: flag,
    voiceDictationEnabled: flag,
    wikiCloudSync: flag,
    advancedAnalyticsEnabled: flag,
    localSignalsOptIn: flag,
    includeCoAuthoredByAgent: flag,
    enableAgentShield: flag,
    agentShield20OptIn: flag,
    ideAutoConnect: flag,
    commandAllowlist: texts,
    commandDenylist: texts,
    commandBlocklist: texts,
    customModels: z.array(CustomModel).optional(),
    modelPolicy: z
      .looseObject({
        allowedModelIds: texts,
        blockedModelIds: texts,
        allowCustomModels: flag,
        allowedBaseUrls: texts,
        allowAllPlatformModels: flag,
        isFastModelsAllowed: flag,
        requireExplicitOptInModelIds: texts,
        allowPlatformRouterByok: flag,
        platformRouterByokOnly: flag,
      })
      .optional(),
    mcpPolicy: z.looseObject({ enabled: flag, allowlist: texts }).optional(),
    missionPolicy: z.looseObject({ restrictedAccess: flag, allowedUserIds: texts }).optional(),
    userModelPolicies: open,
    enabledPlugins: open,
    disabledSkills: texts,
    extraKnownMarketplaces: open,
    strictKnownMarketplaces: z
      .array(z.looseObject({ source: z.enum(['codehost']).optional(), repo: text, ref: text, sha: text }))
      .optional(),
    networkPolicy: z.looseObject({ allowedIps: z.array(AddressRange).optional() }).optional(),
    sandbox: z
      .looseObject({
        enabled: flag,
        filesystem: z
          .looseObject({ allowWrite: texts, allowRead: texts, denyWrite: texts, denyRead: texts })
          .optional(),
        network: z
          .looseObject({
            allowedDomains: texts,
            allowUnixSockets: texts,
            allowAllUnixSockets: flag,
            allowLocalBinding: flag,
            httpProxyPort: port,
            socksProxyPort: port,
          })
          .optional(),
      })
      .optional(),
    allowManagedHooksOnly: flag,
    hooks: Hooks.optional(),
    restrictMemberVisibility: flag,
    restrictApiKeyCreationToManagers: flag,
    managedComputersEnabled: flag,
    byomComputersEnabled: flag,
    disableAutoUpdate: flag,
    disableWeeklyUsageSummary: flag,
    managedComputersAllowedEmails: emails,
    byomComputersAllowedEmails: emails,
    personaSettings: z
      .looseObject({ enabledRoles: z.array(z.unknown()).optional(), personaConnectors: open })
      .optional(),
    sessionRetentionDays: z.int().min(14).max(365).optional(),
    platformRouterGuidance: words,
    platformRouterRules: z.array(z.looseObject({ guidance: words, when: words })).optional(),
    env: open,
  })
  .superRefine((settings, context) => {
    for (const path of addressesWithCredentials(settings))
      context.addIssue({ code: 'custom', path: [...path], message: NO_CREDENTIALS });
  })
  .meta({
    id: 'EnterpriseControls',
    description: 'members that are not listed here are kept as they are; secrets are shown as ***',
    examples: [EXAMPLE],
  });
export type Settings = z.infer<typeof Settings>;

/** Replaces a secret in answers, and in settings that keep the stored one. */
export const MASK = '***';

/** Names of models, so that their secrets are found after models were added, removed or moved. */
function namesOf(models: readonly { id?: string | undefined; model?: string | undefined }[]): string[] {
  const seen = new Map<string, number>();
  return models.map(({ id, model }) => {
    const name = id ?? model ?? '';
    const before = seen.get(name) ?? 0;
    seen.set(name, before + 1);
    return before === 0 ? name : `${name}#${before + 1}`;
  });
}

/**
 * The settings with another value for each secret: the `apiKey` and `extraHeaders` of custom models, and `env` (decisions.md,
 * Enterprise controls). A secret's place is its path.
 */
export function mapSecrets(
  settings: Settings,
  replace: (value: unknown, place: readonly string[]) => unknown,
): Settings {
  const each = (values: Record<string, unknown>, place: readonly string[]) =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, replace(value, [...place, name])]),
    );
  const { env, customModels } = settings;
  const names = namesOf(customModels ?? []);
  const models = customModels?.map((model, index) => {
    const { apiKey, extraHeaders } = model;
    const place = ['customModels', names[index] ?? ''];
    return {
      ...model,
      ...(apiKey === undefined ? {} : { apiKey: replace(apiKey, [...place, 'apiKey']) as string }),
      ...(extraHeaders === undefined ? {} : { extraHeaders: each(extraHeaders, [...place, 'extraHeaders']) }),
    };
  });
  return {
    ...settings,
    ...(models === undefined ? {} : { customModels: models }),
    ...(env === undefined ? {} : { env: each(env, ['env']) }),
  };
}
