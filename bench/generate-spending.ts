import { Random } from './random.js';

const MS_PER_DAY = 86_400_000;

/** What a person spends, and when. */
interface Spender {
  readonly dollars: number;
  /** How likely work is on a weekday, and on a day of a weekend. */
  readonly weekday: number;
  readonly weekend: number;
  readonly begins: number;
  readonly away: readonly [first: number, last: number];
}

/**
 * The dollars that an invented organization spends on each day. People begin, go on holiday and sometimes let agents run all night; half of the
 * organizations grow by up to 5 % a week, and a quarter move to a dearer or cheaper model on some day.
 */
export function generateSpending(seed: number, people: number, firstDay: string, days: number): number[] {
  const random = new Random(seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
  const growth = random.next() < 0.5 ? 1 : Math.exp((0.05 * random.next()) / 7);
  const moves = random.next() < 0.25 ? random.below(days) : days;
  const factor = random.next() < 0.7 ? 1.5 : 0.6;
  const holidays = new Set(Array.from({ length: Math.ceil(days / 30) }, () => random.below(days)));
  const spenders = Array.from({ length: people }, (): Spender => {
    const away = random.below(days * 1.5);
    return {
      dollars: 10 * Math.exp(normal()),
      weekday: 0.5 + 0.45 * random.next(),
      weekend: random.next() < 0.3 ? 0.3 * random.next() : 0.03,
      begins: random.next() < 0.15 ? random.below(days) : 0,
      away: [away, away + 3 + random.below(10)],
    };
  });
  // What is common to all of a week.
  let mood = 0;
  return Array.from({ length: days }, (_, day) => {
    const weekday = new Date(Date.parse(firstDay) + day * MS_PER_DAY).getUTCDay();
    if (weekday === 1) mood = 0.9 * mood + 0.06 * normal();
    const spent = spenders.map(({ dollars, begins, away: [first, last], ...likely }) => {
      const isAway = day < begins || (day >= first && day < last);
      const chance = weekday % 6 === 0 ? likely.weekend : holidays.has(day) ? 0.15 : likely.weekday;
      if (isAway || random.next() > chance) return 0;
      return dollars * Math.exp(0.7 * normal() - 0.245) * (random.next() < 0.01 ? 6 : 1);
    });
    const all = spent.reduce((sum, usd) => sum + usd, 0);
    return all * Math.exp(mood) * growth ** day * (day >= moves ? factor : 1);
  });
}
