import { z } from 'zod';
import { Amount, type Bill, dollars, REVISED_DAYS } from './vendor-bill.js';
import { PullFault } from './vendor-client.js';

/** https://docs.github.com/en/rest/billing/usage. Amounts are dollars. Who used it is left out. */
const Answered = z.object({
  timePeriod: z.object({ year: z.int(), month: z.int().nullish(), day: z.int().nullish() }),
  usageItems: z.array(
    z.object({
      sku: z.string(),
      model: z.string().nullish(),
      grossAmount: Amount,
      netAmount: Amount,
    }),
  ),
});

/** The AI credits and requests of Copilot that GitHub bills, by kind and model. Seats aren't in it. */
export const GITHUB_AI_CREDITS: Bill = {
  vendor: 'github',
  name: 'github-ai-credits',
  tells: 'money',
  revisedDays: REVISED_DAYS,
  fetch: async (client, day, account) => {
    const [year, month, date] = day.split('-').map(Number);
    const place = account.replace(/^orgs\//, 'organizations/');
    const path = `/${place}/settings/billing/ai_credit/usage?year=${year}&month=${month}&day=${date}`;
    const { timePeriod: told, usageItems } = await client.json(Answered, { path });
    if (told.year !== year || (told.month ?? month) !== month || (told.day ?? date) !== date)
      throw new PullFault(`GitHub answers for another day when it is asked for ${day}`);
    return usageItems.map(({ sku, model, grossAmount, netAmount }) => ({
      item: [sku, model ?? ''].filter((name) => name !== '').join(': '),
      ...{ usd: dollars(netAmount), gross_usd: dollars(grossAmount), tokens: null },
    }));
  },
};
