import { activity, activityByClient } from './activity.js';
import { activityByAgent, tokensByAgent, usersByAgent } from './agents.js';
import { coverage, coverageByMonth, qualityByAgent } from './coverage.js';
import type { SentEvent } from './event.js';
import { type Circumstances, Organization } from './organization.js';
import { productivity } from './productivity.js';
import { quality } from './quality.js';
import { tokens, tokensByModel } from './tokens.js';
import { tools, toolsByAutonomyLevel, toolsByToolName } from './tools.js';
import { userTotals } from './user-totals.js';
import { users } from './users.js';

/**
 * A second computation of every answer, from the events as they were sent: the slow and obvious way, written from
 * the definitions and not from the SQL. All days of the organization, each answer's rows in their order.
 */
export function answers(sent: readonly SentEvent[], circumstances: Circumstances): Record<string, unknown[]> {
  const organization = new Organization(sent, circumstances);
  return {
    tokens: tokens(organization),
    'tokens by model': tokensByModel(organization),
    'tokens by agent': tokensByAgent(organization),
    tools: tools(organization),
    'tools by tool_name': toolsByToolName(organization),
    'tools by autonomy_level': toolsByAutonomyLevel(organization),
    activity: activity(organization),
    'activity by client': activityByClient(organization),
    'activity by agent': activityByAgent(organization),
    productivity: productivity(organization),
    users: users(organization),
    'users by agent': usersByAgent(organization),
    coverage: coverage(organization),
    'coverage by month': coverageByMonth(organization),
    quality: quality(organization),
    'quality by agent': qualityByAgent(organization),
    user_totals: userTotals(organization),
  };
}
