import { hash } from 'node:crypto';
import { join } from 'node:path';
import { FETCHED_PRICES } from '../disk/data-files.js';
import { writeWhole } from '../disk/folder.js';
import { readFetched } from './price-list.js';
import type { ReferencePaths } from './reference-data.js';

/** The fact that has the prices that were fetched. */
const FETCHED = 'fetched_prices';

/**
 * Which node's files of reference data count, where several share the database: those that were brought last. Each content is brought once, by
 * the first node that builds and has it. So a node with a file of before doesn't replace a newer one, however often it starts.
 */
export class SharedFiles {
  /** The facts of files that aren't used, since others took their place. */
  readonly replaced: string[] = [];
  /** The facts to note. */
  readonly noted = new Map<string, string>();
  private fetched: string | undefined;

  constructor(
    private readonly facts: ReadonlyMap<string, string>,
    /** Whether this node brings its files. If not, it only has them used where there are none. */
    private readonly isBringing: boolean,
  ) {}

  /** Has the data folder have the fetched prices that count, unless those that it has are newer. */
  async takeFetched(data: string): Promise<void> {
    const shared = this.facts.get(FETCHED) ?? '';
    const own = readFetched(data);
    this.fetched = own;
    if (shared === '' || shared === own) return;
    if (own !== undefined && !this.facts.has(broughtAs(FETCHED, hash('sha256', own)))) return;
    await writeWhole(join(data, FETCHED_PRICES), shared);
    this.fetched = shared;
  }

  /** Whether a file that differs from the one that counts takes its place. */
  uses(fact: string, sha256: string): boolean {
    if ((this.facts.get(fact) ?? '') !== '') {
      if (!this.isBringing) return false;
      if (this.facts.has(broughtAs(fact, sha256))) {
        this.replaced.push(fact);
        return false;
      }
    }
    this.noted.set(broughtAs(fact, sha256), '');
    if (fact !== 'price_list' || this.fetched === undefined) return true;
    this.noted.set(FETCHED, this.fetched);
    this.noted.set(broughtAs(FETCHED, hash('sha256', this.fetched)), '');
    return true;
  }
}

/** A sentence for each file that isn't used, by its fact. */
export function sentencesOf(
  replaced: readonly string[],
  { rateCard, prices }: Pick<ReferencePaths, 'rateCard' | 'prices'>,
): string[] {
  const files = new Map([
    ['rate_card', `The rate card ${rateCard}`],
    ['price_list', prices === undefined ? 'The price list of this version' : `The price list ${prices}`],
  ]);
  return replaced.flatMap((fact) => {
    const file = files.get(fact);
    return file === undefined
      ? []
      : `${file} isn't used, because another node has replaced it by a newer one: to go back to it, set a file with another $comment.`;
  });
}

/** The name of the fact that a content of a file was brought. */
function broughtAs(fact: string, sha256: string): string {
  return `${fact} ${sha256}`;
}
