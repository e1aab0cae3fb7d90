import { inject } from 'vitest';
import { PRICES } from './cases.js';
import { type AtEnd, World } from './world.js';

/** Where cases and laws are played: every store must give the same answers, and a run of the tests has one. */
export const STORES: {
  name: string;
  open: (rateCard: string, atEnd: AtEnd, prices?: string) => Promise<World>;
}[] = [
  {
    name: inject('store'),
    open: (rateCard, atEnd, prices = PRICES) =>
      World.create({ DAYBOOK_RATE_CARD: rateCard, DAYBOOK_PRICES: prices }, atEnd),
  },
];
