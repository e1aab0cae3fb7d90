import { nearestName } from '../input/nearest-name.js';

/** Says that there is no table of a name, and which of the tables is meant if one is nearly called so. `shown` is the name as it was written. */
export function unknownTable(name: string, tables: Iterable<string>, shown = name): string {
  const nearest = nearestName(name, tables);
  const advice = nearest === undefined || nearest === name ? '' : `did you mean ${nearest}? `;
  return `There is no table ${shown}: ${advice}SHOW TABLES lists the tables`;
}
