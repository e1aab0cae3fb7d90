import { type Address, FILTERS, hrefOf, isFiltered, usedIn } from './address.js';

/** Panels whose numbers no filter applies to. */
export interface HiddenPanels {
  readonly names: string;
  /** Why they can't be filtered, in a sentence. */
  readonly why: string;
  /** A way to see something like it, with the text of its link. */
  readonly way?: readonly [text: string, address: Address];
}

interface HiddenProps {
  readonly address: Address;
  /** The names of the page's calls per turn, which a filter by tool hides. */
  readonly ratios: string;
  readonly panels?: readonly HiddenPanels[];
}

/**
 * Lists what isn't shown because of the filters, and why: a number on the screen is true for what stands above it. Nothing is listed
 * without filters.
 */
export function Hidden({ address, ratios, panels = [] }: HiddenProps) {
  const used = usedIn(address);
  const { tool: _, mcp_server: __, ...others } = address.filters;
  const whole = ['Show for everything', { ...address, filters: {} }] as const;
  const rows: HiddenPanels[] = [
    ...(used === undefined
      ? []
      : [
          {
            names: ratios,
            why: `A turn holds calls of many tools, so calls of ${used} a turn mean nothing.`,
            way: ['Show for all tools', { ...address, filters: others }] as const,
          },
        ]),
    ...(isFiltered(address) ? panels : []),
  ];
  if (rows.length === 0) return null;
  const values = FILTERS.flatMap((filter) => address.filters[filter] ?? []);
  return (
    <section class="hidden-panels" aria-labelledby="hidden-title">
      <h2 id="hidden-title">Hidden under {values.length === 1 ? 'this filter' : 'these filters'}</h2>
      <dl>
        {rows.map(({ names, why, way: [text, to] = whole }) => (
          <div key={names}>
            <dt>{names}</dt>
            <dd>
              {why} <a href={hrefOf(to)}>{text}</a>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
