import { Empty } from './empty.js';
import { Failures } from './failures.js';
import { Foot } from './foot.js';
import { Hidden } from './hidden-panels.js';
import type { PageProps } from './page-props.js';
import { RangeHead } from './range-head.js';

/** Which tools and MCP servers agents call, and how many of their calls fail. */
export function ToolsPage({ address, session }: PageProps) {
  const { last } = session.days;
  if (last === null) return <Empty session={session} />;
  return (
    <>
      <RangeHead address={address} session={session} last={last} title="Tools" />
      <div class="panels">
        <Failures address={address} last={last} filter="tool" title="Tools" one="Tool" />
        <Failures address={address} last={last} filter="mcp_server" title="MCP servers" one="MCP server" />
        <Hidden address={address} ratios="Calls a turn" />
      </div>
      <Foot address={address} last={last} session={session} />
    </>
  );
}
