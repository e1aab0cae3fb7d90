import type { Address } from './address.js';
import type { Day } from './days.js';
import type { Session } from './session.js';

/** What every page gets. */
export interface PageProps {
  readonly address: Address;
  readonly session: Session;
}

/** What shows the numbers of the address. */
export interface RangeProps {
  readonly address: Address;
  /** The newest day with numbers. */
  readonly last: Day;
}
