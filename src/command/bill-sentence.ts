import { z } from 'zod';

/** Of a row of `coverage --group-by vendor`. */
const Billed = z.object({
  month: z.string(),
  vendor: z.string(),
  agent: z.string(),
  captured_cost_ratio: z.number().nullable(),
});

/** The names of those who bill, in sentences. */
const BILLERS: Readonly<Record<string, string>> = {
  anthropic: 'Anthropic',
  cursor: 'Cursor',
  github: 'GitHub',
  openai: 'OpenAI',
};

/** Says how much of what a vendor bills events have; nothing if it isn't known. */
export function billSentence(row: Readonly<Record<string, unknown>>): string | undefined {
  const { month, vendor, agent, captured_cost_ratio: share } = Billed.parse(row);
  if (share === null) return undefined;
  const biller = BILLERS[vendor] ?? 'its vendor';
  const whose = agent === '' ? `${biller}'s agents` : agent;
  return `${whose}: events have ${(100 * share).toFixed(1)} % of what ${biller} billed in ${month.slice(0, 7)}.`;
}
