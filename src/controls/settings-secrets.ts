import type { Settings } from './control-settings.js';

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
 * The settings with another value for each secret: the `apiKey` and `extraHeaders` of custom models, and `env`
 * (docs/controls.md, "Secrets"). A secret's place is its path.
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
