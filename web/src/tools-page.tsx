import { isFiltered } from './address.js';
import { Adoption } from './adoption.js';
import { Empty } from './empty.js';
import { Failures } from './failures.js';
import { Foot } from './foot.js';
import { Hidden, type HiddenPanels } from './hidden-panels.js';
import type { PageProps } from './page-props.js';
import { RangeHead } from './range-head.js';
import { may } from './session.js';

const UNFILTERED: readonly HiddenPanels[] = [
  {
    names: 'Users of MCP servers and skills, by week and in the range',
    why: 'They are counted for the whole organization.',
  },
];

/** Which tools and MCP servers agents call, how many of their calls fail, and who uses which servers and skills. */
export function ToolsPage({ address, session }: PageProps) {
  const { last } = session.days;
  if (last === null) return <Empty session={session} />;
  const isManager = may(session, 'read analytics');
  return (
    <>
      <RangeHead address={address} session={session} last={last} title="Tools" />
      <div class="panels">
        <Failures address={address} last={last} filter="tool" title="Tools" one="Tool" />
        <Failures address={address} last={last} filter="mcp_server" title="MCP servers" one="MCP server" />
        {isManager && !isFiltered(address) && <Adoption address={address} last={last} session={session} />}
        <Hidden address={address} ratios="Calls a turn" panels={isManager ? UNFILTERED : []} />
      </div>
      <Foot address={address} last={last} session={session} />
    </>
  );
}
