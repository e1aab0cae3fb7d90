import type { TroubledReport } from '../store/state/vendor-pulls.js';
import { count } from '../terminal/terminal.js';

/** A sentence, without its full stop, about a vendor's report that lacks something. */
export function troubleOf({
  report,
  pulled_at,
  is_late,
  missed_days,
  oldest_missed_day,
  fault,
}: TroubledReport): string {
  const late = is_late ? ` was last pulled on ${new Date(pulled_at).toISOString().slice(0, 10)}` : '';
  const missed = missed_days === 0 ? '' : ` lacks ${count(missed_days, 'day')} since ${oldest_missed_day}`;
  const said = [late, missed].filter((part) => part !== '').join(', and');
  return `vendor's report ${report}${said || ' had a fault'}${fault === null ? '' : `: ${fault}`}`;
}
