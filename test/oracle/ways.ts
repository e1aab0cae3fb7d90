import type { StoredEvent } from './event.js';

/** How a call of a model was made, as far as vendors ask another price for it. */

const USUAL = ['standard', 'normal', 'default', 'auto', 'global', 'not_available'];

/** The speed, service tier or region of a call; empty for the usual one. */
export function wayOf(event: StoredEvent, member: 'speed' | 'service_tier' | 'region'): string {
  const way = event.text(member) ?? '';
  return USUAL.includes(way) ? '' : way;
}

const LIMITS = [512_000, 272_000, 200_000, 128_000, 100_000];

/** The largest limit that the prompt of a call exceeds, in tokens. What states a sum of several calls has no prompt. */
export function promptClassOf(event: StoredEvent): number {
  const isSum =
    ['otlp_metric', 'vendor_api'].includes(event.text('channel') ?? '') ||
    ['copilot-cli', 'droid'].includes(event.text('agent') ?? '');
  const prompt =
    event.count('input_tokens') + event.count('cache_read_tokens') + event.count('cache_write_tokens');
  return isSum ? 0 : (LIMITS.find((limit) => prompt > limit) ?? 0);
}
