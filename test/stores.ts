import { type AtEnd, World } from './world.js';

/** Where golden cases and laws are played: every store must give the same answers. */
export const STORES: { name: string; open: (rateCard: string, atEnd: AtEnd) => Promise<World> }[] = [
  { name: 'DuckDB', open: (rateCard, atEnd) => World.create({ DAYBOOK_RATE_CARD: rateCard }, atEnd) },
];
