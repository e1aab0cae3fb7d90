import type { Tokens } from './credits.js';
import type { StoredEvent } from './event.js';
import { sum } from './lists.js';

/** How a call of a model was made, as far as vendors ask another price for it. */

const USUAL = ['standard', 'normal', 'default', 'auto', 'global', 'not_available'];

/** The speed, service tier or region of a call; empty for the usual one. */
export function wayOf(event: StoredEvent, member: 'speed' | 'service_tier' | 'region'): string {
  const way = event.text(member) ?? '';
  const said = USUAL.includes(way) ? '' : way;
  if (member !== 'region' || said !== '') return said;
  // Bedrock's names begin with it.
  return /^(us|eu)\.anthropic\./.exec((event.text('model') ?? '').trim().toLowerCase())?.[1] ?? '';
}

const LIMITS = [512_000, 272_000, 200_000, 128_000, 100_000];

/** The largest limit that the prompt of a call exceeds, in tokens. An event that states the sum of several calls has no prompt. */
export function promptClassOf(event: StoredEvent): number {
  const isSum =
    event.value('is_sum') === true ||
    ['otlp_metric', 'vendor_api'].includes(event.text('channel') ?? '') ||
    ['copilot-chat', 'copilot-cli', 'cursor', 'droid'].includes(event.text('agent') ?? '');
  const prompt =
    event.count('input_tokens') + event.count('cache_read_tokens') + event.count('cache_write_tokens');
  return isSum ? 0 : (LIMITS.find((limit) => prompt > limit) ?? 0);
}

export function tokensOf(usage: readonly StoredEvent[]): Tokens {
  const total = (member: string) => sum(usage.map((event) => event.count(member)));
  return {
    input_tokens: total('input_tokens'),
    output_tokens: total('output_tokens'),
    cache_read_tokens: total('cache_read_tokens'),
    cache_write_tokens: total('cache_write_tokens'),
  };
}

/** The tokens that were written to the cache for an hour: of each call at most those that it has written. */
export function longWritesOf(usage: readonly StoredEvent[]): number {
  return sum(
    usage.map((event) => Math.min(event.count('cache_write_1h_tokens'), event.count('cache_write_tokens'))),
  );
}

/** Whether a call says its cost, but not for how long it has written to the cache. */
export function isUnsplit(event: StoredEvent): boolean {
  return (
    event.count('reported_cost_usd') > 0 &&
    event.count('cache_write_tokens') > 0 &&
    event.value('cache_write_1h_tokens') === null
  );
}
