// Generated from docs/openapi.json by "npm run docs".

export interface Answers {
  getHealthz: {
    status: 'ok';
    /**
     * of Daybook
     */
    version: string;
    /**
     * the commit that it was built from, if that is known
     */
    commit: string | null;
  };
  getOpenapiJson: {
    openapi: string;
    info: {
      title: string;
      version: string;
      [k: string]: unknown;
    };
    paths: {
      [k: string]: unknown;
    };
    [k: string]: unknown;
  };
  getReadyz: {
    status: 'ready';
    /**
     * given while acknowledged events wait, and none was settled since then, in Unix milliseconds
     */
    settling?: {
      since: number;
    };
    /**
     * when a build last succeeded, in Unix milliseconds
     */
    last_build_at: number | null;
  };
  getOrganizationEnterpriseControls: Controls;
  putOrganizationEnterpriseControls: ControlsChange;
  getOrganizationEnterpriseControlsHistory: {
    changes: ControlsChange[];
    pagination: {
      hasMore: boolean;
      /**
       * null if hasMore is false
       */
      nextCursor: string | null;
    };
  };
  getOrganizationEnterpriseControlsDifferences: {
    differences: ControlsDifference[];
  };
  getPeople: People;
  putPeople: PeopleChange;
  getProposedAliases: {
    proposals: ProposedAlias[];
    /**
     * who is on a vendor's list and not among the people, or differs from them
     */
    listed: ListedPerson[];
  };
  getBudgets: Budgets;
  putBudgets: Budgets;
  getBudgetsHistory: {
    changes: Budgets[];
  };
  getAlerts: Alerts;
  putAlerts: Alerts;
  getAlertsHistory: {
    changes: Alerts[];
  };
  getAlertsLog: {
    /**
     * those that hold, and those that ended in the last 14 days, the newest first
     */
    alerts: {
      condition: 'unbuilt_day' | 'budget' | 'dear_day' | 'unpriced' | 'rejected' | 'silent';
      /**
       * what it says
       */
      text: string;
      /**
       * the check that first saw it
       */
      beganAt: string;
      /**
       * the check that did not any more; null as long as it holds
       */
      endedAt: string | null;
    }[];
    /**
     * the newest 100 messages: undelivered ones first, then those that wait
     */
    deliveries: {
      /**
       * id of the message
       */
      id: string;
      kind: 'alerts' | 'digest';
      /**
       * name of the way; null for e-mail to the leads of the team
       */
      way: string | null;
      /**
       * the Monday of a digest; null for alerts
       */
      week: string | null;
      /**
       * the team of a digest for its leads, or null
       */
      team: string | null;
      state: 'waiting' | 'delivered' | 'undelivered';
      /**
       * how often it was sent
       */
      attempts: number;
      /**
       * when it was put out
       */
      madeAt: string;
      /**
       * when it is sent next; of others, when it was sent last
       */
      nextAt: string;
      /**
       * why the last attempt failed, or null
       */
      answer: string | null;
    }[];
  };
  testAlerts: {
    isDelivered: boolean;
    /**
     * why it was not taken, or null
     */
    answer: string | null;
  };
  getVendors: Vendors;
  putVendors: Vendors;
  getVendorsHistory: {
    changes: Vendors[];
  };
  getVendorsPulls: {
    /**
     * the last pull of each report
     */
    pulls: {
      /**
       * the report of a vendor
       */
      report: string;
      /**
       * when it was pulled last
       */
      pulledAt: string;
      /**
       * whether there was no pull on the day before or since
       */
      isLate: boolean;
      /**
       * days that were fetched whole
       */
      days: number;
      /**
       * of them, those that were not as before
       */
      changed: number;
      /**
       * days that could not be fetched; the next pull does
       */
      missed: string[];
      /**
       * the last fault, or null
       */
      fault: string | null;
    }[];
  };
  getPrivacy: Privacy;
  putPrivacy: Privacy;
  getPrivacyHistory: {
    changes: PrivacyRevision[];
    pagination: {
      hasMore: boolean;
      /**
       * null if hasMore is false
       */
      nextCursor: string | null;
    };
  };
  getAudit: {
    reads: Read[];
    pagination: {
      hasMore: boolean;
      /**
       * null if hasMore is false
       */
      nextCursor: string | null;
    };
  };
  createComputer: CreatedComputer;
  listComputers: {
    computers: Computer[];
  };
  getComputer: Computer;
  changeComputer: Computer;
  getComputerByName: Computer;
  retryComputer: Computer;
  createUpload: Upload;
  completeUpload: CompletedUpload;
  getAnalyticsTokens: {
    data: TokensRow[] | TokensByModelRow[] | TokensByAgentRow[];
    meta: {
      /**
       * the organization
       */
      org_id: string;
      /**
       * a day in UTC
       */
      start_date: string;
      /**
       * a day in UTC
       */
      end_date: string;
      /**
       * when the newest of these days was built; null when none is
       */
      data_refreshed_at: string | null;
    };
  };
  getAnalyticsTools: {
    data: ToolsRow[] | ToolsByToolNameRow[] | ToolsByAutonomyLevelRow[];
    meta: {
      /**
       * the organization
       */
      org_id: string;
      /**
       * a day in UTC
       */
      start_date: string;
      /**
       * a day in UTC
       */
      end_date: string;
      /**
       * when the newest of these days was built; null when none is
       */
      data_refreshed_at: string | null;
    };
  };
  getAnalyticsActivity: {
    data: ActivityRow[] | ActivityByClientRow[] | ActivityByAgentRow[];
    meta: {
      /**
       * the organization
       */
      org_id: string;
      /**
       * a day in UTC
       */
      start_date: string;
      /**
       * a day in UTC
       */
      end_date: string;
      /**
       * when the newest of these days was built; null when none is
       */
      data_refreshed_at: string | null;
    };
  };
  getAnalyticsProductivity: {
    data: ProductivityRow[];
    meta: {
      /**
       * the organization
       */
      org_id: string;
      /**
       * a day in UTC
       */
      start_date: string;
      /**
       * a day in UTC
       */
      end_date: string;
      /**
       * when the newest of these days was built; null when none is
       */
      data_refreshed_at: string | null;
    };
  };
  getAnalyticsUsers: {
    data: UsersRow[] | UsersByAgentRow[];
    meta: {
      /**
       * the organization
       */
      org_id: string;
      /**
       * a day in UTC
       */
      start_date: string;
      /**
       * a day in UTC
       */
      end_date: string;
      /**
       * when the newest of these days was built; null when none is
       */
      data_refreshed_at: string | null;
      /**
       * whether there are more users or rows
       */
      has_more: boolean;
      /**
       * what to send as cursor for the next page
       */
      next_cursor: string | null;
    };
  };
  getAnalyticsQuality: {
    data: QualityRow[] | QualityByAgentRow[];
    meta: {
      /**
       * the organization
       */
      org_id: string;
      /**
       * a day in UTC
       */
      start_date: string;
      /**
       * a day in UTC
       */
      end_date: string;
      /**
       * when the newest of these days was built; null when none is
       */
      data_refreshed_at: string | null;
    };
  };
  getAnalyticsCoverage: {
    data: CoverageRow[] | CoverageByGroupRow[] | CoverageByMonthRow[] | CoverageByVendorRow[];
    meta: {
      /**
       * the organization
       */
      org_id: string;
      /**
       * a day in UTC
       */
      start_date: string;
      /**
       * a day in UTC
       */
      end_date: string;
      /**
       * when the newest of these days was built; null when none is
       */
      data_refreshed_at: string | null;
      /**
       * whether there are more users or rows
       */
      has_more: boolean;
      /**
       * what to send as cursor for the next page
       */
      next_cursor: string | null;
    };
  };
  getAnalyticsSummary: {
    data: SummaryRow[];
    meta: {
      /**
       * the organization
       */
      org_id: string;
      /**
       * a day in UTC
       */
      start_date: string;
      /**
       * a day in UTC
       */
      end_date: string;
      /**
       * when the newest of these days was built; null when none is
       */
      data_refreshed_at: string | null;
      /**
       * whether there are more users or rows
       */
      has_more: boolean;
      /**
       * what to send as cursor for the next page
       */
      next_cursor: string | null;
    };
  };
  getAnalyticsChanges: {
    data: ChangesRow[];
    meta: {
      /**
       * the organization
       */
      org_id: string;
      /**
       * a day in UTC
       */
      start_date: string;
      /**
       * a day in UTC
       */
      end_date: string;
      /**
       * when the newest of these days was built; null when none is
       */
      data_refreshed_at: string | null;
    };
  };
  getAnalyticsCosts: {
    data: CostsRow[];
    meta: {
      /**
       * the organization
       */
      org_id: string;
      /**
       * a day in UTC
       */
      start_date: string;
      /**
       * a day in UTC
       */
      end_date: string;
      /**
       * when the newest of these days was built; null when none is
       */
      data_refreshed_at: string | null;
      /**
       * whether there are more users or rows
       */
      has_more: boolean;
      /**
       * what to send as cursor for the next page
       */
      next_cursor: string | null;
    };
  };
  getAnalyticsFocus: {
    data: FocusRow[];
    meta: {
      /**
       * the organization
       */
      org_id: string;
      /**
       * a day in UTC
       */
      start_date: string;
      /**
       * a day in UTC
       */
      end_date: string;
      /**
       * when the newest of these days was built; null when none is
       */
      data_refreshed_at: string | null;
    };
  };
  getAnalyticsVendorLines: {
    data: VendorLinesRow[];
    meta: {
      /**
       * the organization
       */
      org_id: string;
      /**
       * a day in UTC
       */
      start_date: string;
      /**
       * a day in UTC
       */
      end_date: string;
      /**
       * when the newest of these days was built; null when none is
       */
      data_refreshed_at: string | null;
    };
  };
  getAnalyticsMe: {
    data: UsersRow[];
    meta: {
      /**
       * the organization
       */
      org_id: string;
      /**
       * a day in UTC
       */
      start_date: string;
      /**
       * a day in UTC
       */
      end_date: string;
      /**
       * when the newest of these days was built; null when none is
       */
      data_refreshed_at: string | null;
    };
  };
  getAnalyticsMePlace: {
    /**
     * empty if fewer than 10 others were active in the range, or you were not
     */
    data: {
      /**
       * the member of the summary
       */
      measure: string;
      /**
       * your number
       */
      own: number;
      /**
       * share of the others whose number is lower
       */
      below: number;
      /**
       * 10th percentile of the others: the mean of the 5 numbers around it
       */
      p10: number;
      /**
       * median of the others, in the same way
       */
      median: number;
      /**
       * 90th percentile of the others, in the same way
       */
      p90: number;
      /**
       * people who were active in the range
       */
      people: number;
    }[];
    meta: {
      /**
       * the organization
       */
      org_id: string;
      /**
       * a day in UTC
       */
      start_date: string;
      /**
       * a day in UTC
       */
      end_date: string;
    };
  };
  getAnalyticsAdoption: {
    /**
     * most users first, 200 at most
     */
    data: {
      /**
       * what is used
       */
      kind: 'mcp_server' | 'skill';
      /**
       * the server, in lower case, or the skill
       */
      name: string;
      /**
       * who used it in the range
       */
      users: number;
      /**
       * users by all people who were active in the range
       */
      active_ratio: number;
      /**
       * those who never used it before the range; null if no day before it is known
       */
      new_users: number | null;
      /**
       * share of the users of a whole week who used it in the next whole week too; null without such weeks
       */
      kept_ratio: number | null;
      /**
       * weeks of the range with users
       */
      weeks: {
        /**
         * its Monday
         */
        week: string;
        /**
         * who used it in the days of the week that the range has
         */
        users: number;
      }[];
    }[];
    meta: {
      /**
       * the organization
       */
      org_id: string;
      /**
       * a day in UTC
       */
      start_date: string;
      /**
       * a day in UTC
       */
      end_date: string;
    };
  };
  getAnalyticsMarks: {
    data: {
      /**
       * stuck, of a person or team; failing, of a server or tool; spreading, of a server or skill
       */
      mark: 'stuck' | 'failing' | 'spreading';
      /**
       * what is marked
       */
      kind: 'person' | 'team' | 'mcp_server' | 'tool' | 'skill';
      /**
       * the user, team, server, tool or skill
       */
      name: string;
      /**
       * the team of a person; null without one, and for other marks
       */
      team: string | null;
      /**
       * the day on which it began; null for a team
       */
      since: string | null;
      /**
       * weekdays with calls since then; null for other marks
       */
      days: number | null;
      /**
       * people in it: with failed calls, or who use it, or who are stuck; null for other marks
       */
      users: number | null;
      /**
       * failed calls since then; null for other marks
       */
      failed_calls: number | null;
      /**
       * calls since then that are known to have succeeded or failed; null for other marks
       */
      calls_with_outcome: number | null;
      /**
       * the first by the second; null for other marks
       */
      failed_call_ratio: number | null;
      /**
       * the same of the 20 weekdays before; null for other marks
       */
      ratio_before: number | null;
      /**
       * the median of all people in their last 10 weekdays; null for other marks
       */
      ratio_of_all: number | null;
      /**
       * users of the 28 days before; null for other marks
       */
      users_before: number | null;
      /**
       * users who never used it before; null for other marks
       */
      new_users: number | null;
      /**
       * who said that it needs no look, or a pseudonym; null if nobody did
       */
      hidden_by: string | null;
      /**
       * when they said so
       */
      hidden_at: string | null;
      /**
       * why, in sentences
       */
      reasons: string[];
    }[];
    meta: {
      /**
       * the organization
       */
      org_id: string;
      /**
       * a day in UTC
       */
      end_date: string;
    };
  };
  hideMark: {
    data: {
      /**
       * false if the user isn’t stuck, so that nothing was noted
       */
      is_hidden: boolean;
    };
  };
  getAnalyticsToday: {
    data: {
      tokens: TokensRow;
      tools: ToolsRow;
      activity: ActivityRow;
      productivity: ProductivityRow;
      users: UsersRow[];
      summary: SummaryRow;
    };
    meta: {
      /**
       * the organization
       */
      org_id: string;
      /**
       * a day in UTC
       */
      start_date: string;
      /**
       * a day in UTC
       */
      end_date: string;
      /**
       * the day is not over
       */
      final: false;
      /**
       * when it was counted
       */
      counted_at: string;
    };
  };
  getAnalyticsSilence: {
    /**
     * empty for those who may not see people by name
     */
    data: SilenceRow[];
    meta: {
      /**
       * the organization
       */
      org_id: string;
      /**
       * collectors that report
       */
      live_collectors: number;
      /**
       * collectors that are silent, and nobody has said why
       */
      silent_collectors: number;
      /**
       * agents of people that are silent, and nobody has said why
       */
      silent_agents: number;
      /**
       * agents that have stopped with nothing left to send
       */
      idle_agents: number;
      /**
       * silent collectors and agents of which somebody knows why
       */
      acknowledged: number;
    };
  };
  getAnalyticsBudgets: {
    data: BudgetsRow[];
    meta: {
      /**
       * the organization
       */
      org_id: string;
      /**
       * the month, in UTC
       */
      month: string;
      /**
       * days of the month that are over and not built: their costs are estimated
       *
       * Items: a day in UTC
       */
      unbuilt_days: string[];
    };
  };
  getAnalyticsMeBudget: {
    data: BudgetsRow[];
    meta: {
      /**
       * the organization
       */
      org_id: string;
      /**
       * the month, in UTC
       */
      month: string;
      /**
       * days of the month that are over and not built: their costs are estimated
       *
       * Items: a day in UTC
       */
      unbuilt_days: string[];
    };
  };
  getCaller: {
    data: Caller;
  };
  listApiKeys: {
    data: ApiKey[];
    meta: {
      /**
       * whether there are more keys
       */
      has_more: boolean;
      /**
       * what to send as cursor for the next page
       */
      next_cursor: string | null;
    };
  };
  createApiKey: CreatedApiKey;
  getApiKey: ApiKey;
  getStatus: {
    data: OrganizationStatus;
  };
  postSql: SqlAnswer;
  getSqlTables: {
    data: SqlTable[];
  };
  getEventsSender: {
    /**
     * organization that gets the events
     */
    org_id: string;
    /**
     * the credential's user; null if it belongs to none
     */
    user_id: string | null;
    /**
     * whether it may send only events of that user
     */
    is_only_user: boolean;
  };
  postEvents: {
    /**
     * valid events, including those that were already there
     */
    accepted: number;
    /**
     * lines that broke a rule
     */
    rejected: number;
    /**
     * the first hundred rejected lines
     *
     * @maxItems 100
     */
    errors: {
      /**
       * line number, from 1
       */
      line: number;
      /**
       * the rule
       */
      code: string;
      /**
       * what would be accepted
       */
      detail: string;
    }[];
  };
  postOtlpVLogs: OtlpAnswer;
  postOtlpVMetrics: OtlpAnswer;
  postOtlpVTraces: OtlpAnswer;
  getOrganizationMaturityLevelReports: ReadinessReports;
  postOrganizationMaturityLevelReports: ReadinessReport;
  getOrganizationRepositories: Repositories;
}
/**
 * the newest settings; user and updatedAt are null before the first change
 */
export interface Controls {
  /**
   * number of the newest change; 0 before the first
   */
  revision: number;
  settings: EnterpriseControls;
  user: {
    id: string;
    /**
     * '' if unknown
     */
    email: string;
    name: string;
  } | null;
  updatedAt: string | null;
}
/**
 * members that are not listed here are kept as they are; secrets are shown as ***
 */
export interface EnterpriseControls {
  sessionDefaultSettings?: {
    model?: string;
    specModeModel?: string;
    runInWorktree?: boolean;
    [k: string]: unknown;
  };
  subagentModelSettings?: {
    lightModel?: string;
    mediumModel?: string;
    heavyModel?: string;
    [k: string]: unknown;
  };
  mcpAutonomyOverrides?: {
    [k: string]: unknown;
  };
  mcpAutonomyUrlOverrides?: {
    urlPattern?: string;
    [k: string]: unknown;
  }[];
  builtInToolAutonomyOverrides?: {
    [k: string]: unknown;
  };
  cloudSessionSync?: boolean;
  voiceDictationEnabled?: boolean;
  wikiCloudSync?: boolean;
  advancedAnalyticsEnabled?: boolean;
  localSignalsOptIn?: boolean;
  includeCoAuthoredByAgent?: boolean;
  enableAgentShield?: boolean;
  agentShield20OptIn?: boolean;
  ideAutoConnect?: boolean;
  commandAllowlist?: string[];
  commandDenylist?: string[];
  commandBlocklist?: string[];
  customModels?: {
    model?: string;
    id?: string;
    index?: number;
    baseUrl?: string;
    apiKey?: string;
    displayName?: string;
    maxContextLimit?: number;
    enableThinking?: boolean;
    thinkingMaxTokens?: number;
    maxOutputTokens?: number;
    extraHeaders?: {
      [k: string]: unknown;
    };
    extraArgs?: {
      [k: string]: unknown;
    };
    noImageSupport?: boolean;
    cloudhosted?: {
      cloudProfile?: string;
      cloudRegion?: string;
      cloudhostedBaseUrl?: string;
      cloudAuthRefresh?: string;
      cloudCredentialExport?: string;
      [k: string]: unknown;
    };
    baseModelId?: {
      [k: string]: unknown;
    };
    useInRouter?: boolean;
    [k: string]: unknown;
  }[];
  modelPolicy?: {
    allowedModelIds?: string[];
    blockedModelIds?: string[];
    allowCustomModels?: boolean;
    allowedBaseUrls?: string[];
    allowAllPlatformModels?: boolean;
    isFastModelsAllowed?: boolean;
    requireExplicitOptInModelIds?: string[];
    allowPlatformRouterByok?: boolean;
    platformRouterByokOnly?: boolean;
    [k: string]: unknown;
  };
  mcpPolicy?: {
    enabled?: boolean;
    allowlist?: string[];
    [k: string]: unknown;
  };
  missionPolicy?: {
    restrictedAccess?: boolean;
    allowedUserIds?: string[];
    [k: string]: unknown;
  };
  userModelPolicies?: {
    [k: string]: unknown;
  };
  enabledPlugins?: {
    [k: string]: unknown;
  };
  disabledSkills?: string[];
  extraKnownMarketplaces?: {
    [k: string]: unknown;
  };
  strictKnownMarketplaces?: {
    source?: 'codehost';
    repo?: string;
    ref?: string;
    sha?: string;
    [k: string]: unknown;
  }[];
  networkPolicy?: {
    allowedIps?: string[];
    [k: string]: unknown;
  };
  sandbox?: {
    enabled?: boolean;
    filesystem?: {
      allowWrite?: string[];
      allowRead?: string[];
      denyWrite?: string[];
      denyRead?: string[];
      [k: string]: unknown;
    };
    network?: {
      allowedDomains?: string[];
      allowUnixSockets?: string[];
      allowAllUnixSockets?: boolean;
      allowLocalBinding?: boolean;
      httpProxyPort?: number;
      socksProxyPort?: number;
      [k: string]: unknown;
    };
    [k: string]: unknown;
  };
  allowManagedHooksOnly?: boolean;
  hooks?: {
    hooksDisabled?: boolean;
    showHookOutput?: boolean;
    PreToolUse?: {
      matcher?: string;
      commandRegex?: string;
      hooks: {
        type: 'command';
        command: string;
        /**
         * in seconds; by default 60
         */
        timeout?: number;
        [k: string]: unknown;
      }[];
      [k: string]: unknown;
    }[];
    PostToolUse?: {
      matcher?: string;
      commandRegex?: string;
      hooks: {
        type: 'command';
        command: string;
        /**
         * in seconds; by default 60
         */
        timeout?: number;
        [k: string]: unknown;
      }[];
      [k: string]: unknown;
    }[];
    Notification?: {
      matcher?: string;
      commandRegex?: string;
      hooks: {
        type: 'command';
        command: string;
        /**
         * in seconds; by default 60
         */
        timeout?: number;
        [k: string]: unknown;
      }[];
      [k: string]: unknown;
    }[];
    UserPromptSubmit?: {
      matcher?: string;
      commandRegex?: string;
      hooks: {
        type: 'command';
        command: string;
        /**
         * in seconds; by default 60
         */
        timeout?: number;
        [k: string]: unknown;
      }[];
      [k: string]: unknown;
    }[];
    Stop?: {
      matcher?: string;
      commandRegex?: string;
      hooks: {
        type: 'command';
        command: string;
        /**
         * in seconds; by default 60
         */
        timeout?: number;
        [k: string]: unknown;
      }[];
      [k: string]: unknown;
    }[];
    SubagentStop?: {
      matcher?: string;
      commandRegex?: string;
      hooks: {
        type: 'command';
        command: string;
        /**
         * in seconds; by default 60
         */
        timeout?: number;
        [k: string]: unknown;
      }[];
      [k: string]: unknown;
    }[];
    PreCompact?: {
      matcher?: string;
      commandRegex?: string;
      hooks: {
        type: 'command';
        command: string;
        /**
         * in seconds; by default 60
         */
        timeout?: number;
        [k: string]: unknown;
      }[];
      [k: string]: unknown;
    }[];
    SessionStart?: {
      matcher?: string;
      commandRegex?: string;
      hooks: {
        type: 'command';
        command: string;
        /**
         * in seconds; by default 60
         */
        timeout?: number;
        [k: string]: unknown;
      }[];
      [k: string]: unknown;
    }[];
    SessionEnd?: {
      matcher?: string;
      commandRegex?: string;
      hooks: {
        type: 'command';
        command: string;
        /**
         * in seconds; by default 60
         */
        timeout?: number;
        [k: string]: unknown;
      }[];
      [k: string]: unknown;
    }[];
  };
  restrictMemberVisibility?: boolean;
  restrictApiKeyCreationToManagers?: boolean;
  managedComputersEnabled?: boolean;
  byomComputersEnabled?: boolean;
  disableAutoUpdate?: boolean;
  disableWeeklyUsageSummary?: boolean;
  managedComputersAllowedEmails?: string[];
  byomComputersAllowedEmails?: string[];
  personaSettings?: {
    enabledRoles?: unknown[];
    personaConnectors?: {
      [k: string]: unknown;
    };
    [k: string]: unknown;
  };
  costs?: {
    currency: string;
    /**
     * @maxItems 100
     */
    terms: {
      /**
       * a day in UTC
       */
      from: string;
      priceFactor: number;
      rate: number;
    }[];
  };
  people?: {
    /**
     * @maxItems 1000
     */
    groups?: {
      group: string;
      team?: string;
      costCenter?: string;
    }[];
    toldTeams?: boolean;
    [k: string]: unknown;
  };
  sessionRetentionDays?: number;
  platformRouterGuidance?: string;
  platformRouterRules?: {
    guidance?: string;
    when?: string;
    [k: string]: unknown;
  }[];
  env?: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * the settings after a change, and who made it
 */
export interface ControlsChange {
  /**
   * number of the change, from 1
   */
  revision: number;
  settings: EnterpriseControls;
  user: {
    id: string;
    /**
     * '' if unknown
     */
    email: string;
    name: string;
  };
  updatedAt: string;
}
/**
 * a member that two revisions have differently
 */
export interface ControlsDifference {
  /**
   * the path of the member
   */
  member: string;
  /**
   * absent if the older revision has no such member
   */
  before?: {
    [k: string]: unknown;
  };
  /**
   * absent if the newer revision has no such member
   */
  after?: {
    [k: string]: unknown;
  };
}
/**
 * the people by their user ids
 */
export interface People {
  /**
   * number of the newest change; 0 before the first
   */
  revision: number;
  people: Person[];
}
export interface Person {
  /**
   * the id that answers and filters have
   */
  userId: string;
  /**
   * '' if unknown
   */
  name: '' | string;
  /**
   * addresses; the first one is shown, and all of them are aliases
   *
   * @maxItems 100
   */
  emails: string[];
  /**
   * other names under which events come, and credentials: ids of collectors, telemetry and identity providers, logins of vendors
   *
   * @maxItems 100
   */
  aliases: string[];
  /**
   * one team at most on each day
   *
   * @maxItems 100
   */
  teams: {
    name: string;
    /**
     * the first day; null if it always was so
     */
    from: string | null;
    /**
     * the last day; null if no end is known
     */
    to: string | null;
    /**
     * whether the person gets the digest of the team
     */
    isLead: boolean;
  }[];
  /**
   * one cost centre at most on each day
   *
   * @maxItems 100
   */
  costCenters: {
    name: string;
    /**
     * the first day; null if it always was so
     */
    from: string | null;
    /**
     * the last day; null if no end is known
     */
    to: string | null;
  }[];
}
/**
 * what has changed, or would
 */
export interface PeopleChange {
  /**
   * number of the newest change; 0 before the first
   */
  revision: number;
  changes: {
    userId: string;
    /**
     * in words
     */
    change: string;
  }[];
  /**
   * built days that count for other users since, and that the next build builds again
   */
  days: number;
}
export interface ProposedAlias {
  userId: string;
  /**
   * a user who may be the same person
   */
  alias: string;
  /**
   * spelling: only upper case and white space tell them apart; address: they have one address; login: a vendor lists a login like the name or address
   */
  reason: 'spelling' | 'address' | 'login';
}
export interface ListedPerson {
  /**
   * the vendor's list
   */
  report: string;
  /**
   * the address or login, as the vendor has it
   */
  name: string;
  /**
   * '' if the vendor doesn't tell it
   */
  fullName: string;
  /**
   * the person who has that name; null if nobody has
   */
  userId: string | null;
  /**
   * the person whose other name it may be, or null
   */
  likelyUserId: string | null;
  /**
   * teams to which the person does not belong today
   */
  teams: string[];
  /**
   * whether the seat is billed, and neither Daybook nor the vendor saw it in use for 30 days; false where the organization protects people
   */
  isUnused: boolean;
}
/**
 * what may be spent in each month, after a change of it
 */
export interface Budgets {
  /**
   * number of the change; 0 before the first
   */
  revision: number;
  /**
   * who made it, or a pseudonym; null before the first
   */
  changedBy: string | null;
  /**
   * null before the first change
   */
  changedAt: string | null;
  /**
   * @maxItems 1000
   */
  budgets: {
    /**
     * what the budget is of
     */
    scope: 'organization' | 'team' | 'cost_center' | 'person' | 'agent' | 'model';
    /**
     * which one: a team, cost centre, user id, agent, or a model by its key; null for the organization, and for each person without a budget of their own
     */
    name: string | null;
    /**
     * dollars of the price list in a month
     */
    usd: number;
  }[];
}
/**
 * where alerts and digests go, after a change of it
 */
export interface Alerts {
  /**
   * number of the change; 0 before the first
   */
  revision: number;
  /**
   * who made it, or a pseudonym; null before the first
   */
  changedBy: string | null;
  /**
   * null before the first change
   */
  changedAt: string | null;
  /**
   * where messages go
   *
   * @maxItems 10
   */
  ways: {
    /**
     * names the way, once
     */
    name: string;
    kind: 'webhook' | 'slack' | 'teams' | 'email';
    /**
     * address that messages are posted to, a secret: answers have ***, and *** keeps it; null for e-mail
     */
    url: ('***' | string) | null;
    /**
     * key with which webhooks are signed; *** keeps it; null for all other kinds
     */
    secret: ('***' | string) | null;
    /**
     * addresses, such as platform@acme.example; only of e-mail
     *
     * @maxItems 20
     */
    to: string[];
    /**
     * what is sent this way
     *
     * @minItems 1
     * @maxItems 2
     */
    takes: ['alerts' | 'digest', ...('alerts' | 'digest')[]];
  }[];
  /**
   * what nobody is told of
   *
   * @maxItems 6
   */
  mutes: {
    condition: 'unbuilt_day' | 'budget' | 'dear_day' | 'unpriced' | 'rejected' | 'silent';
    /**
     * the last day of it, in UTC; null for one that lasts
     */
    until: string | null;
    /**
     * why
     */
    reason: string | null;
  }[];
  /**
   * whether leads of teams get the digest of their team by e-mail
   */
  leads: boolean;
}
/**
 * which vendors' APIs are pulled, after a change of it
 */
export interface Vendors {
  /**
   * number of the change; 0 before the first
   */
  revision: number;
  /**
   * who made it, or a pseudonym; null before the first
   */
  changedBy: string | null;
  /**
   * null before the first change
   */
  changedAt: string | null;
  /**
   * the APIs that are pulled
   *
   * @maxItems 6
   */
  vendors: {
    /**
     * whose API it is
     */
    vendor: 'anthropic' | 'anthropic-enterprise' | 'cursor' | 'github' | 'openai' | 'openai-api';
    /**
     * key of the API, a secret: answers have ***, and *** keeps it
     */
    key: '***' | string;
    /**
     * of GitHub, the organization or enterprise: orgs/acme or enterprises/acme; of OpenAI, the id of the workspace; null for others
     */
    account: string | null;
    /**
     * address of the API where it isn't the vendor's own; its host must be in DAYBOOK_VENDOR_HOSTS
     */
    url: string | null;
    /**
     * whether members, seats and teams are fetched too
     */
    rosters: boolean;
    /**
     * the first day that is fetched; null for as far back as the vendor changes its numbers
     */
    since: string | null;
    /**
     * whether its bills are fetched too, for which the key may need another permission
     */
    bills: boolean;
  }[];
}
/**
 * who may see people by name
 */
export interface Privacy {
  /**
   * protected: only auditors see rows and names of people
   */
  mode: 'open' | 'protected';
  /**
   * how many people a group has at least that is shown
   */
  smallestGroup: number;
  /**
   * user ids of those who see people by name; null for all but owners
   */
  auditors: string[] | null;
  /**
   * how many they are
   */
  auditorCount: number;
  /**
   * number of the newest change; 0 before the first
   */
  revision: number;
  /**
   * whether you see people by name
   */
  seesNames: boolean;
  /**
   * who made it; null for all but owners, and before the first
   */
  changedBy: string | null;
  /**
   * null before the first change
   */
  changedAt: string | null;
}
/**
 * who might see people by name after a change
 */
export interface PrivacyRevision {
  /**
   * protected: only auditors see rows and names of people
   */
  mode: 'open' | 'protected';
  /**
   * how many people a group has at least that is shown
   */
  smallestGroup: number;
  /**
   * user ids of those who see people by name; null for all but owners
   */
  auditors: string[] | null;
  /**
   * how many they are
   */
  auditorCount: number;
  /**
   * number of the change, from 1
   */
  revision: number;
  /**
   * who made it; null for all but owners
   */
  changedBy: string | null;
  /**
   * of the key or other credential with which it was made; null for all but owners, and for a command on the service's machine
   */
  fingerprint: string | null;
  changedAt: string;
}
/**
 * a request that was about a person, about everyone, or for totals
 */
export interface Read {
  askedAt: string;
  /**
   * of the key or other credential that asked; local for a tool on the service's machine
   */
  fingerprint: string;
  /**
   * whose credential it is; null if it belongs to no user
   */
  userId: string | null;
  /**
   * from which the request came
   */
  address: string;
  /**
   * of the answer
   */
  path: string;
  /**
   * user: about one user; everyone: with a row for each person; totals: no person is told apart
   */
  scope: 'user' | 'everyone' | 'totals';
  /**
   * the user who was asked about; null unless scope is user
   */
  about: string | null;
  /**
   * null unless it was asked in SQL
   */
  sql: {
    /**
     * the first 12 hexadecimal digits of the SHA-256 of the statement
     */
    digest: string;
    /**
     * that the statement names
     */
    tables: string[];
  } | null;
  /**
   * of the answer: 403 if it was refused
   */
  status: number;
}
export interface CreatedComputer {
  id: string;
  /**
   * unique in the organization
   */
  name: string;
  providerType: 'byom' | 'e2b';
  status: 'active' | 'provisioning' | 'error';
  /**
   * in Unix milliseconds
   */
  createdAt: number;
  /**
   * UUID of the machine, in any case; unique in the organization
   */
  hostId?: string;
  /**
   * as the machine reported when it last connected
   */
  hostname?: string;
  /**
   * the user on the machine
   */
  remoteUser?: string;
  ownerPrincipalKind: 'human' | 'service';
  /**
   * the user, service account or key
   */
  ownerId: string;
  /**
   * WebSocket address for watching the computer
   */
  relayClientUrl: string;
  /**
   * WebSocket address for the computer's agent
   */
  relayAgentUrl: string;
  /**
   * when its agent connected, in Unix milliseconds; null if it is not connected
   */
  connectedAt: number | null;
  provisioningSteps?: ProvisioningStep[];
  /**
   * token for "daybook agent" on a byom computer; shown only once
   */
  agentToken?: string;
}
export interface ProvisioningStep {
  id: string;
  name: 'create-computer' | 'configure-user' | 'clone-repos' | 'install-dependencies';
  status: 'pending' | 'in_progress' | 'completed' | 'failed';
  /**
   * why the step failed
   */
  error?: string;
  /**
   * in Unix milliseconds
   */
  startedAt?: number;
  /**
   * in Unix milliseconds
   */
  completedAt?: number;
  /**
   * id of the run that installs dependencies
   */
  installSessionId?: string;
}
export interface Computer {
  id: string;
  /**
   * unique in the organization
   */
  name: string;
  providerType: 'byom' | 'e2b';
  status: 'active' | 'provisioning' | 'error';
  /**
   * in Unix milliseconds
   */
  createdAt: number;
  /**
   * UUID of the machine, in any case; unique in the organization
   */
  hostId?: string;
  /**
   * as the machine reported when it last connected
   */
  hostname?: string;
  /**
   * the user on the machine
   */
  remoteUser?: string;
  ownerPrincipalKind: 'human' | 'service';
  /**
   * the user, service account or key
   */
  ownerId: string;
  /**
   * WebSocket address for watching the computer
   */
  relayClientUrl: string;
  /**
   * WebSocket address for the computer's agent
   */
  relayAgentUrl: string;
  /**
   * when its agent connected, in Unix milliseconds; null if it is not connected
   */
  connectedAt: number | null;
  provisioningSteps?: ProvisioningStep[];
}
export interface Upload {
  /**
   * id of the transfer, in any case
   */
  transferId: string;
  /**
   * send the bytes here with PUT, without a credential
   */
  uploadUrl: string;
  /**
   * in Unix milliseconds
   */
  expiresAt: number;
}
export interface CompletedUpload {
  /**
   * id of the transfer, in any case
   */
  transferId: string;
  /**
   * name of the file
   */
  fileName: string;
  byteLength: number;
}
export interface TokensRow {
  /**
   * a day in UTC
   */
  date: string;
  /**
   * standard credits, computed with the rate card
   */
  billable_tokens: number;
  /**
   * uncached input tokens
   */
  input_tokens: number;
  /**
   * tokens generated by models
   */
  output_tokens: number;
  /**
   * tokens read from the cache
   */
  cache_read_tokens: number;
  /**
   * tokens written to the cache
   */
  cache_write_tokens: number;
  by_model: {
    /**
     * the model
     */
    model_id: string;
    /**
     * tier of the model on the rate card
     */
    model_tier: 'standard' | 'thinking';
    /**
     * standard credits, computed with the rate card
     */
    billable_tokens: number;
    /**
     * uncached input tokens
     */
    input_tokens: number;
    /**
     * tokens generated by models
     */
    output_tokens: number;
    /**
     * tokens read from the cache
     */
    cache_read_tokens: number;
    /**
     * tokens written to the cache
     */
    cache_write_tokens: number;
  }[];
  by_user: {
    /**
     * id of the user
     */
    user_id: string;
    /**
     * newest e-mail address in the user's events, or null
     */
    user_email: string | null;
    /**
     * standard credits, computed with the rate card
     */
    billable_tokens: number;
    by_model: {
      /**
       * the model
       */
      model_id: string;
      /**
       * tier of the model on the rate card
       */
      model_tier: 'standard' | 'thinking';
      /**
       * standard credits, computed with the rate card
       */
      billable_tokens: number;
      /**
       * uncached input tokens
       */
      input_tokens: number;
      /**
       * tokens generated by models
       */
      output_tokens: number;
      /**
       * tokens read from the cache
       */
      cache_read_tokens: number;
      /**
       * tokens written to the cache
       */
      cache_write_tokens: number;
    }[];
  }[];
}
export interface TokensByModelRow {
  /**
   * a day in UTC
   */
  date: string;
  /**
   * the model
   */
  group_key: string;
  /**
   * standard credits, computed with the rate card
   */
  billable_tokens: number;
  /**
   * uncached input tokens
   */
  input_tokens: number;
  /**
   * tokens generated by models
   */
  output_tokens: number;
  /**
   * tokens read from the cache
   */
  cache_read_tokens: number;
  /**
   * tokens written to the cache
   */
  cache_write_tokens: number;
}
export interface TokensByAgentRow {
  /**
   * a day in UTC
   */
  date: string;
  /**
   * the agent, empty if events name none
   */
  group_key: string;
  /**
   * standard credits, computed with the rate card
   */
  billable_tokens: number;
  /**
   * uncached input tokens
   */
  input_tokens: number;
  /**
   * tokens generated by models
   */
  output_tokens: number;
  /**
   * tokens read from the cache
   */
  cache_read_tokens: number;
  /**
   * tokens written to the cache
   */
  cache_write_tokens: number;
}
export interface ToolsRow {
  /**
   * a day in UTC
   */
  date: string;
  /**
   * calls of tools
   */
  tool_calls: number;
  /**
   * failed tool calls: refused and interrupted ones haven't failed
   */
  failed_calls: number;
  /**
   * tool calls that are known to have succeeded or failed
   */
  calls_with_outcome: number;
  by_tool: {
    /**
     * the tool
     */
    tool: string;
    /**
     * its calls
     */
    invocations: number;
    /**
     * those that failed: refused and interrupted ones haven't
     */
    failed_calls: number;
    /**
     * those that are known to have succeeded or failed
     */
    calls_with_outcome: number;
  }[];
  /**
   * users who called an MCP tool
   */
  mcp_users_with_mcp: number;
  mcp_by_server: {
    /**
     * the MCP server, in lower case
     */
    server: string;
    /**
     * calls of its tools
     */
    invocations: number;
    /**
     * those that failed: refused and interrupted ones haven't
     */
    failed_calls: number;
    /**
     * those that are known to have succeeded or failed
     */
    calls_with_outcome: number;
  }[];
  /**
   * skills used
   */
  skills_invocations: number;
  skills_by_name: {
    /**
     * the skill
     */
    name: string;
    /**
     * number of uses
     */
    count: number;
  }[];
  /**
   * slash commands used
   */
  slash_commands_invocations: number;
  slash_commands_by_name: {
    /**
     * the command, without its slash
     */
    name: string;
    /**
     * number of uses
     */
    count: number;
  }[];
  /**
   * hook commands that ran
   */
  hooks_invocations: number;
  hooks_by_event: {
    /**
     * event of the hook
     */
    event: string;
    /**
     * matcher of the hook, empty if it matches everything
     */
    matcher: string;
    /**
     * the command
     */
    command: string;
    /**
     * number of runs
     */
    count: number;
  }[];
  /**
   * users of the web app
   */
  web_users: number;
  /**
   * tool calls per user turn
   */
  autonomy_ratio_avg: number;
  /**
   * median of tool calls per user turn over the sessions of the day
   */
  autonomy_ratio_p50: number;
  /**
   * 90th percentile of the same ratios
   */
  autonomy_ratio_p90: number;
  /**
   * tool calls per session
   */
  tool_calls_per_session_avg: number;
  /**
   * user turns per session
   */
  user_turns_per_session_avg: number;
  /**
   * shares of tool calls by the autonomy mode in which they were made
   */
  tool_autonomy_level_ratio: {
    /**
     * share of auto-high
     */
    auto_high: number;
    /**
     * share of auto-medium
     */
    auto_medium: number;
    /**
     * share of auto-low
     */
    auto_low: number;
    /**
     * share of manual
     */
    manual: number;
  };
}
export interface ToolsByToolNameRow {
  /**
   * a day in UTC
   */
  date: string;
  /**
   * the tool
   */
  group_key: string;
  /**
   * calls of the tool
   */
  tool_calls: number;
  /**
   * failed tool calls: refused and interrupted ones haven't failed
   */
  failed_calls: number;
  /**
   * tool calls that are known to have succeeded or failed
   */
  calls_with_outcome: number;
}
export interface ToolsByAutonomyLevelRow {
  /**
   * a day in UTC
   */
  date: string;
  /**
   * the level, unknown for calls whose mode isn't known
   */
  group_key: 'auto_high' | 'auto_medium' | 'auto_low' | 'manual' | 'unknown';
  /**
   * calls of tools in it
   */
  tool_calls: number;
}
export interface ActivityRow {
  /**
   * a day in UTC
   */
  date: string;
  /**
   * users who were active on the day
   */
  daily_active_users: number;
  /**
   * users who were active on this day or the 6 before
   */
  weekly_active_users: number;
  /**
   * users who were active on this day or the 29 before
   */
  monthly_active_users: number;
  /**
   * users by client; a user of several clients counts for each of them
   */
  daily_active_users_by_client: {
    [k: string]: number;
  };
  /**
   * sessions started
   */
  sessions: number;
  /**
   * messages of users and agents
   */
  messages: number;
  /**
   * messages of users
   */
  user_messages: number;
}
export interface ActivityByClientRow {
  /**
   * a day in UTC
   */
  date: string;
  /**
   * the client
   */
  group_key: string;
  /**
   * users who were active on the day
   */
  daily_active_users: number;
}
export interface ActivityByAgentRow {
  /**
   * a day in UTC
   */
  date: string;
  /**
   * the agent, empty if events name none
   */
  group_key: string;
  /**
   * users who were active with the agent on the day; a user of several agents counts for each of them
   */
  daily_active_users: number;
  /**
   * sessions started
   */
  sessions: number;
  /**
   * messages of users and agents
   */
  messages: number;
  /**
   * messages of users
   */
  user_messages: number;
}
export interface ProductivityRow {
  /**
   * a day in UTC
   */
  date: string;
  /**
   * files created by agents
   */
  files_created: number;
  /**
   * existing files changed by agents
   */
  files_edited: number;
  by_extension: {
    /**
     * file extension, empty if there is none
     */
    extension: string;
    /**
     * number of files
     */
    count: number;
  }[];
  by_language: {
    /**
     * language of the files
     */
    language: string;
    /**
     * number of files
     */
    count: number;
  }[];
  /**
   * commits made by agents
   */
  git_commits: number;
  /**
   * pull requests created by agents
   */
  git_prs_created: number;
}
export interface UsersRow {
  /**
   * id of the user
   */
  user_id: string;
  /**
   * newest e-mail address in the user's events, or null
   */
  user_email: string | null;
  /**
   * a day in UTC
   */
  date: string;
  /**
   * calls of tools
   */
  tool_calls: number;
  /**
   * failed tool calls: refused and interrupted ones haven't failed
   */
  failed_calls: number;
  /**
   * tool calls that are known to have succeeded or failed
   */
  calls_with_outcome: number;
  /**
   * standard credits, computed with the rate card
   */
  billable_tokens: number;
  /**
   * model used most
   */
  primary_model: string;
  /**
   * tier of that model on the rate card
   */
  primary_model_tier: 'standard' | 'thinking';
  /**
   * files created by agents
   */
  files_created: number;
  /**
   * existing files changed by agents
   */
  files_edited: number;
  /**
   * commits made by agents
   */
  git_commits: number;
  /**
   * pull requests created by agents
   */
  git_prs_created: number;
  /**
   * calls of MCP tools
   */
  mcp_calls: number;
  /**
   * skills used
   */
  skill_calls: number;
  /**
   * slash commands used
   */
  slash_commands: number;
  /**
   * hook commands that ran
   */
  hooks: number;
  /**
   * sessions started
   */
  sessions: number;
  /**
   * messages of the user and of agents
   */
  messages: number;
  /**
   * messages of the user
   */
  user_messages: number;
  /**
   * messages of agents
   */
  assistant_messages: number;
  /**
   * tool calls per user turn
   */
  autonomy_ratio: number;
  /**
   * autonomy mode used most
   */
  delegation_level: 'auto-high' | 'auto-medium' | 'auto-low' | 'spec' | 'manual';
  /**
   * Items: a language of the files
   */
  languages: string[];
}
export interface UsersByAgentRow {
  /**
   * id of the user
   */
  user_id: string;
  /**
   * newest e-mail address in the user's events, or null
   */
  user_email: string | null;
  /**
   * a day in UTC
   */
  date: string;
  /**
   * the agent, empty if events name none
   */
  group_key: string;
  /**
   * calls of tools
   */
  tool_calls: number;
  /**
   * failed tool calls: refused and interrupted ones haven't failed
   */
  failed_calls: number;
  /**
   * tool calls that are known to have succeeded or failed
   */
  calls_with_outcome: number;
  /**
   * standard credits, computed with the rate card
   */
  billable_tokens: number;
  /**
   * files created by agents
   */
  files_created: number;
  /**
   * existing files changed by agents
   */
  files_edited: number;
  /**
   * commits made by agents
   */
  git_commits: number;
  /**
   * pull requests created by agents
   */
  git_prs_created: number;
  /**
   * calls of MCP tools
   */
  mcp_calls: number;
  /**
   * skills used
   */
  skill_calls: number;
  /**
   * slash commands used
   */
  slash_commands: number;
  /**
   * hook commands that ran
   */
  hooks: number;
  /**
   * sessions started
   */
  sessions: number;
  /**
   * messages of the user and of agents
   */
  messages: number;
  /**
   * messages of the user
   */
  user_messages: number;
  /**
   * messages of agents
   */
  assistant_messages: number;
}
export interface QualityRow {
  /**
   * a day in UTC
   */
  date: string;
  /**
   * events in the numbers of the day
   */
  events: number;
  /**
   * events that don't count because a better channel reports the same
   */
  shadowed: number;
  /**
   * events accepted for the day so far
   */
  accepted: number;
  /**
   * copies of events that were already stored
   */
  duplicates: number;
  /**
   * events that arrived after the first build of the day
   */
  late: number;
  /**
   * rejected lines
   */
  rejected: number;
  rejected_by_reason: {
    /**
     * rule that the lines broke
     */
    reason: string;
    /**
     * number of lines
     */
    count: number;
  }[];
  /**
   * lines of agents' files that were no JSON, and of which was taken what could be read
   */
  mended: number;
  /**
   * tool names that are parsing artifacts
   */
  parse_artifacts: number;
  /**
   * events without a client
   */
  events_without_client: number;
  /**
   * events without an autonomy mode
   */
  events_without_autonomy_mode: number;
  /**
   * events that don't say whose they are
   */
  events_without_user: number;
  /**
   * models that are not on the rate card
   */
  models_not_on_rate_card: number;
  /**
   * sessions of whose calls only the output tokens are known
   */
  incomplete_sessions: number;
  /**
   * time of the newest build of the day
   */
  built_at: string;
  /**
   * time of the first build of the day
   */
  first_built_at: string;
  digests: {
    /**
     * name of the day table
     */
    table: string;
    /**
     * number of its rows
     */
    rows: number;
    /**
     * SHA-256 of its rows
     */
    digest: string;
  }[];
  restatements: {
    /**
     * time of the build
     */
    built_at: string;
    /**
     * day table that changed
     */
    table: string;
    /**
     * SHA-256 of its rows before the change
     */
    old_digest: string;
    /**
     * SHA-256 of its rows after the change
     */
    new_digest: string;
    /**
     * reason
     */
    reason: string;
  }[];
}
export interface QualityByAgentRow {
  /**
   * a day in UTC
   */
  date: string;
  /**
   * the agent, empty if events name none
   */
  group_key: string;
  /**
   * users of the agent
   */
  users: number;
  /**
   * of them, those whose tokens both transcripts and telemetry reported
   */
  users_with_tokens: number;
  /**
   * of these, those for whom the two differ by more than 1 %
   */
  users_with_other_tokens: number;
  /**
   * tokens of these users in transcripts
   */
  log_tokens: number;
  /**
   * the same by telemetry
   */
  otlp_tokens: number;
  /**
   * users whose turns both transcripts and hooks reported
   */
  users_with_turns: number;
  /**
   * of these, those for whom the two differ by more than 1 %
   */
  users_with_other_turns: number;
  /**
   * turns of these users in transcripts
   */
  log_turns: number;
  /**
   * the same by hooks
   */
  hook_turns: number;
  /**
   * users of whom the agent has deleted transcripts, because they were old
   */
  users_with_deleted_transcripts: number;
  /**
   * how many
   */
  transcripts_deleted: number;
}
export interface CoverageRow {
  /**
   * id of the user
   */
  user_id: string;
  /**
   * newest e-mail address in the user's events, or null
   */
  user_email: string | null;
  /**
   * a day in UTC
   */
  date: string;
  /**
   * the agent, empty if events name none
   */
  agent: string;
  /**
   * events that are stored
   */
  events: number;
  /**
   * of them, those that don't count because a better channel reports the same
   */
  shadowed: number;
  channels: {
    /**
     * the channel
     */
    channel: string;
    /**
     * events that are stored
     */
    events: number;
    /**
     * of them, those that don't count because a better channel reports the same
     */
    shadowed: number;
    /**
     * tokens of all kinds
     */
    tokens: number;
    /**
     * messages of the user
     */
    user_turns: number;
  }[];
  /**
   * difference between the tokens of log and telemetry, as a share of the greater, or null
   */
  token_difference_ratio: number | null;
  /**
   * difference between the user turns of log and hooks, as a share of the greater, or null
   */
  turn_difference_ratio: number | null;
  /**
   * how many of the two differences are above 1 %
   */
  disagreements: number;
  /**
   * transcripts that the agent says it deleted because they were old: what nobody had read of them is lost
   */
  transcripts_deleted: number;
}
export interface CoverageByGroupRow {
  /**
   * the team or cost centre on that day, empty for people without one
   */
  group_key: string;
  /**
   * a day in UTC
   */
  date: string;
  /**
   * the agent, empty if events name none
   */
  agent: string;
  /**
   * users with events of the agent
   */
  users: number;
  /**
   * events that are stored
   */
  events: number;
  /**
   * of them, those that don't count because a better channel reports the same
   */
  shadowed: number;
  /**
   * users of whom two channels differ by more than 1 % in tokens or turns
   */
  users_disagreeing: number;
}
export interface CoverageByMonthRow {
  /**
   * id of the user
   */
  user_id: string;
  /**
   * newest e-mail address in the user's events, or null
   */
  user_email: string | null;
  /**
   * the first day of the month, in UTC
   */
  month: string;
  /**
   * the agent, empty if events name none
   */
  agent: string;
  /**
   * days on which the vendor reported tokens
   */
  days: number;
  /**
   * days of them on which the two differ by more than 1 %
   */
  days_disagreeing: number;
  /**
   * tokens of all kinds that the vendor reported
   */
  vendor_tokens: number;
  /**
   * tokens of all kinds that better channels have on these days
   */
  captured_tokens: number;
  /**
   * these as a share of those of the vendor
   */
  captured_ratio: number;
  /**
   * difference between the two, as a share of the greater
   */
  token_difference_ratio: number;
  /**
   * what the vendor says that its tokens cost, or null
   */
  vendor_usd: number | null;
  /**
   * list prices of the tokens that better channels have on the days on which the vendor says a cost, or null
   */
  captured_usd: number | null;
  /**
   * this as a share of what the vendor says, or null
   */
  captured_cost_ratio: number | null;
  /**
   * difference between the two, as a share of the greater, or null
   */
  cost_difference_ratio: number | null;
  /**
   * tokens of captured_usd without a known price, which it leaves out, or null
   */
  captured_unpriced_tokens: number | null;
}
export interface CoverageByVendorRow {
  /**
   * the first day of the month, in UTC
   */
  month: string;
  /**
   * whose bill it is: anthropic, cursor, github or openai; empty for an agent of none of them
   */
  vendor: string;
  /**
   * the agent of which the vendor reports people; empty for the bill of all that is used, which is compared with the vendor's own agents
   */
  agent: string;
  /**
   * days of which the vendor says something
   */
  days: number;
  /**
   * what is to be paid, also negative, or null
   */
  billed_usd: number | null;
  /**
   * the same before discounts and included credits, also negative, or null
   */
  gross_usd: number | null;
  /**
   * list prices of the tokens that better channels have on the days that are billed, or null
   */
  captured_usd: number | null;
  /**
   * this as a share of gross_usd, or null
   */
  captured_cost_ratio: number | null;
  /**
   * difference between the two, as a share of the greater, or null
   */
  cost_difference_ratio: number | null;
  /**
   * tokens of captured_usd without a known price, which it leaves out, or null
   */
  captured_unpriced_tokens: number | null;
  /**
   * tokens of all kinds that the vendor reports, or null
   */
  vendor_tokens: number | null;
  /**
   * tokens of all kinds that better channels have on these days, or null
   */
  captured_tokens: number | null;
  /**
   * these as a share of those of the vendor, or null
   */
  captured_ratio: number | null;
}
export interface SummaryRow {
  /**
   * first day of the day, week (Monday) or month, without interval or null
   */
  date: string | null;
  /**
   * the user, model, ...; without group_by, or null
   */
  group_key: string | null;
  /**
   * list price of the tokens in USD, of those with a known price, if none has one or null
   */
  cost_usd: number | null;
  /**
   * cost_usd by the terms of the organization, in its currency, if a day with costs has no terms or null
   */
  contracted_cost: number | null;
  /**
   * the currency of contracted_cost, without terms or null
   */
  currency: string | null;
  /**
   * tokens without a known price, which cost_usd leaves out
   */
  unpriced_tokens: number;
  /**
   * uncached input tokens
   */
  input_tokens: number;
  /**
   * tokens generated by models
   */
  output_tokens: number;
  /**
   * tokens read from the cache
   */
  cache_read_tokens: number;
  /**
   * tokens written to the cache
   */
  cache_write_tokens: number;
  /**
   * standard credits, computed with the rate card: not dollars
   */
  billable_tokens: number;
  /**
   * sessions started
   */
  sessions: number;
  /**
   * messages of users
   */
  user_turns: number;
  /**
   * tool calls
   */
  tool_calls: number;
  /**
   * failed tool calls: refused and interrupted ones haven't failed
   */
  failed_calls: number;
  /**
   * tool calls that are known to have succeeded or failed
   */
  calls_with_outcome: number;
  /**
   * failed_calls by calls_with_outcome, if no outcome is known or null
   */
  failed_call_ratio: number | null;
  /**
   * tool calls per user turn
   */
  autonomy_ratio: number;
  /**
   * files created or changed by agents: each counts once per session and day
   */
  files: number;
  /**
   * commits made by agents
   */
  commits: number;
  /**
   * pull requests created by agents
   */
  pull_requests: number;
  /**
   * users with an event
   */
  active_users: number;
  /**
   * days with an event
   */
  active_days: number;
  /**
   * the same members of the days before, for compare; if a day of them isn't built, or data begins later, or null
   */
  previous: {
    /**
     * list price of the tokens in USD, of those with a known price, if none has one or null
     */
    cost_usd: number | null;
    /**
     * cost_usd by the terms of the organization, in its currency, if a day with costs has no terms or null
     */
    contracted_cost: number | null;
    /**
     * tokens without a known price, which cost_usd leaves out
     */
    unpriced_tokens: number;
    /**
     * uncached input tokens
     */
    input_tokens: number;
    /**
     * tokens generated by models
     */
    output_tokens: number;
    /**
     * tokens read from the cache
     */
    cache_read_tokens: number;
    /**
     * tokens written to the cache
     */
    cache_write_tokens: number;
    /**
     * standard credits, computed with the rate card: not dollars
     */
    billable_tokens: number;
    /**
     * sessions started
     */
    sessions: number;
    /**
     * messages of users
     */
    user_turns: number;
    /**
     * tool calls
     */
    tool_calls: number;
    /**
     * failed tool calls: refused and interrupted ones haven't failed
     */
    failed_calls: number;
    /**
     * tool calls that are known to have succeeded or failed
     */
    calls_with_outcome: number;
    /**
     * failed_calls by calls_with_outcome, if no outcome is known or null
     */
    failed_call_ratio: number | null;
    /**
     * tool calls per user turn
     */
    autonomy_ratio: number;
    /**
     * files created or changed by agents: each counts once per session and day
     */
    files: number;
    /**
     * commits made by agents
     */
    commits: number;
    /**
     * pull requests created by agents
     */
    pull_requests: number;
    /**
     * users with an event
     */
    active_users: number;
    /**
     * days with an event
     */
    active_days: number;
  } | null;
  /**
   * the first day with data of the row's team or cost centre, or of all people, if the days before begin sooner or null
   */
  data_begins: string | null;
}
export interface ChangesRow {
  /**
   * in this order, without new_teams if there are none; only now if the two can't be compared
   */
  step: 'before' | 'new_teams' | 'people' | 'tokens' | 'models' | 'prices' | 'now';
  /**
   * list price of the days before or of the range; what a step adds, negative if it saves
   */
  usd: number;
  /**
   * the same as value for the days before or null
   */
  previous_value: number | null;
  /**
   * of new_teams how many; of people those with tokens; of tokens those of a person; of models and prices USD per million tokens or null
   */
  value: number | null;
  /**
   * of before and now: tokens without a known price, which usd leaves out or null
   */
  unpriced_tokens: number | null;
  /**
   * the first day with data, if the days before begin sooner or null
   */
  data_begins: string | null;
}
export interface CostsRow {
  /**
   * a day in UTC
   */
  date: string;
  /**
   * the user, model, ..., without group_by or null
   */
  group_key: string | null;
  /**
   * list price in USD of the tokens and searches with a known price, and what is reported of calls without any, if nothing is known or null
   */
  cost_usd: number | null;
  /**
   * cost_usd by the terms of the organization, in its currency, on days without terms or null
   */
  contracted_cost: number | null;
  /**
   * the currency of contracted_cost, without terms or null
   */
  currency: string | null;
  /**
   * cost of the uncached input tokens
   */
  input_usd: number;
  /**
   * cost of the output tokens
   */
  output_usd: number;
  /**
   * cost of the tokens read from the cache
   */
  cache_read_usd: number;
  /**
   * cost of the tokens written to the cache, without those that live an hour
   */
  cache_write_usd: number;
  /**
   * cost of the tokens written to the cache that live an hour
   */
  cache_write_1h_usd: number;
  /**
   * cost of web searches
   */
  web_search_usd: number;
  /**
   * the part of cost_usd that agents or providers reported, of calls without any known price
   */
  reported_usd: number;
  /**
   * of calls with a known price, the sum that agents or providers reported
   */
  compared_reported_usd: number;
  /**
   * the list price of the same calls
   */
  compared_usd: number;
  /**
   * calls of models
   */
  calls: number;
  /**
   * uncached input tokens
   */
  input_tokens: number;
  /**
   * tokens generated by models
   */
  output_tokens: number;
  /**
   * tokens read from the cache
   */
  cache_read_tokens: number;
  /**
   * tokens written to the cache
   */
  cache_write_tokens: number;
  /**
   * of them, tokens that live an hour in the cache
   */
  cache_write_1h_tokens: number;
  /**
   * standard credits, computed with the rate card: not dollars
   */
  billable_tokens: number;
  /**
   * tokens without a known price, which no cost includes
   */
  unpriced_tokens: number;
  /**
   * their share of all tokens of the row
   */
  unpriced_ratio: number;
  unpriced_by_model: {
    /**
     * the model
     */
    model_id: string;
    /**
     * its tokens without a known price
     */
    tokens: number;
    /**
     * their share of all tokens of the row
     */
    ratio: number;
    /**
     * the command that fetches newer prices
     */
    help: string;
  }[];
}
export interface FocusRow {
  /**
   * what the tokens cost by the terms of the organization, without terms at list price; 0 for tokens without a known price
   */
  BilledCost: number;
  /**
   * the organization
   */
  BillingAccountId: string;
  /**
   * always null: organizations have no other name or null
   */
  BillingAccountName: string | null;
  /**
   * the currency of the terms, on days without terms USD
   */
  BillingCurrency: string;
  /**
   * the first instant after the month
   */
  BillingPeriodEnd: string;
  /**
   * the first instant of the month in UTC
   */
  BillingPeriodStart: string;
  /**
   * always Usage
   */
  ChargeCategory: string;
  /**
   * always null: a day that is built again replaces its rows and has no corrections or null
   */
  ChargeClass: string | null;
  /**
   * what was charged
   */
  ChargeDescription: string;
  /**
   * the first instant after the day
   */
  ChargePeriodEnd: string;
  /**
   * the first instant of the day in UTC
   */
  ChargePeriodStart: string;
  /**
   * tokens, or web searches
   */
  ConsumedQuantity: number;
  /**
   * what is counted
   */
  ConsumedUnit: 'Tokens' | 'Requests';
  /**
   * the same as BilledCost
   */
  ContractedCost: number;
  /**
   * the price of a PricingUnit by the terms of the organization, if it isn't known or null
   */
  ContractedUnitPrice: number | null;
  /**
   * the same as BilledCost
   */
  EffectiveCost: number;
  /**
   * the same as PublisherName: events don't say who sends the invoice
   */
  InvoiceIssuerName: string;
  /**
   * what the tokens cost by the price list, in BillingCurrency
   */
  ListCost: number;
  /**
   * the listed price of a PricingUnit in BillingCurrency, if it isn't known or null
   */
  ListUnitPrice: number | null;
  /**
   * the currency of the price list: always USD
   */
  PricingCurrency: string;
  /**
   * ContractedUnitPrice in USD, if it isn't known or null
   */
  PricingCurrencyContractedUnitPrice: number | null;
  /**
   * EffectiveCost in USD
   */
  PricingCurrencyEffectiveCost: number;
  /**
   * ListUnitPrice in USD, if it isn't known or null
   */
  PricingCurrencyListUnitPrice: number | null;
  /**
   * how many units of PricingUnit
   */
  PricingQuantity: number;
  /**
   * what the price is of; Unit for an amount that was reported
   */
  PricingUnit: '1000000 Tokens' | '1000 Requests' | 'Unit';
  /**
   * the same as PublisherName: events don't say who serves a model
   */
  ProviderName: string;
  /**
   * who publishes the model, by its name; Other for models that are not listed
   */
  PublisherName: string;
  /**
   * always AI and Machine Learning
   */
  ServiceCategory: string;
  /**
   * the models of the publisher
   */
  ServiceName: string;
  /**
   * the model and the kind of token
   */
  SkuId: string;
  /**
   * the kind of token, of calls without any known price that tell their cost reported
   */
  SkuMeter: 'input' | 'output' | 'cache_read' | 'cache_write' | 'cache_write_1h' | 'web_search' | 'reported';
  /**
   * an object in JSON with the way of the calls, as far as it isn't the usual one or null
   */
  SkuPriceDetails: string | null;
  /**
   * SkuId with the way of the calls
   */
  SkuPriceId: string;
  /**
   * an object in JSON: daybook/agent, the group as daybook/team and the like, and daybook/unpriced if the price isn't known
   */
  Tags: string;
}
export interface VendorLinesRow {
  /**
   * a day in UTC
   */
  date: string;
  /**
   * the agent
   */
  agent: string;
  /**
   * people of whom vendors report lines
   */
  users: number;
  /**
   * lines that the agent suggested, or null if no vendor tells
   */
  lines_suggested: number;
  /**
   * lines of the agent that were added, or null if no vendor tells
   */
  lines_accepted: number;
  /**
   * lines that the agent removed, or null if no vendor tells
   */
  lines_deleted: number;
}
export interface SilenceRow {
  /**
   * id of the user
   */
  user_id: string;
  /**
   * a collector is one machine on which daybook collect runs
   */
  kind: 'collector' | 'agent';
  /**
   * id of the collector, or the agent, empty if events name none
   */
  name: string;
  /**
   * idle: its files haven't changed, so there is nothing to send; away: a collector that stopped when its person wasn't active
   */
  state: 'silent' | 'acknowledged' | 'idle' | 'away' | 'live';
  /**
   * day in UTC on which it last reported
   */
  last_day: string;
  /**
   * when the collector last reported, or null
   */
  last_seen_at: string | null;
  /**
   * name of the collector's machine, or null
   */
  host: string | null;
  /**
   * version of the collector, or null
   */
  version: string | null;
  /**
   * fingerprint of the collector's key, or null
   */
  fingerprint: string | null;
  /**
   * who knows why it is silent, or null
   */
  acknowledged_by: string | null;
  /**
   * when they said so, or null
   */
  acknowledged_at: string | null;
  /**
   * why it is silent, or null
   */
  reason: string | null;
}
export interface BudgetsRow {
  /**
   * the month, in UTC
   */
  month: string;
  /**
   * what the budget is of
   */
  scope: 'organization' | 'team' | 'cost_center' | 'person' | 'agent' | 'model';
  /**
   * which one of them, of the organization and of people together or null
   */
  name: string | null;
  /**
   * the budget of the month in USD of the price list
   */
  budget_usd: number;
  /**
   * cost_usd of the built days of the month, if it isn't shown or null
   */
  spent_usd: number | null;
  /**
   * its share of the budget, if it isn't shown or null
   */
  spent_ratio: number | null;
  /**
   * spent_usd by the end of the month, if it isn't known or null
   */
  forecast_usd: number | null;
  /**
   * the lower end of its interval, before 15 built days or null
   */
  forecast_low_usd: number | null;
  /**
   * the upper end of its interval, before 15 built days or null
   */
  forecast_high_usd: number | null;
  /**
   * whether the budget holds, of people together or null
   */
  state: ('holds' | 'may_not_hold' | 'above' | 'too_early' | 'not_shown') | null;
  /**
   * built days of the month
   */
  built_days: number;
  /**
   * days of the month that aren't built
   */
  left_days: number;
  /**
   * of them, days that are over: "daybook build" builds them
   */
  unbuilt_days: number;
  /**
   * the day on which 50 % were spent, else or null
   */
  half_on: string | null;
  /**
   * the day on which 80 % were spent, else or null
   */
  most_on: string | null;
  /**
   * the day on which 100 % were spent, else or null
   */
  all_on: string | null;
  /**
   * spent_usd by the terms of the organization, on days without terms or null
   */
  contracted_spent: number | null;
  /**
   * the currency of contracted_spent, without terms or null
   */
  currency: string | null;
  /**
   * tokens without a known price, which no cost includes, or null
   */
  unpriced_tokens: number | null;
  /**
   * how many people had costs, only of people together, else or null
   */
  people: number | null;
  /**
   * how many of them are above their budget, if that tells few people apart or null
   */
  people_above: number | null;
}
export interface Caller {
  /**
   * the organization
   */
  org_id: string;
  /**
   * the role
   */
  role: 'owner' | 'manager' | 'member' | 'guest' | 'ingest' | 'scim';
  /**
   * the user, or null for a credential of none
   */
  user_id: string | null;
  /**
   * the user's address, or null
   */
  email: string | null;
  /**
   * what you may do: what the role may, without what only auditors may if people are protected
   */
  actions: (
    | 'use the page'
    | 'read analytics'
    | 'see people by name'
    | 'acknowledge silence'
    | 'hide marks'
    | 'read its own analytics'
    | 'run SQL'
    | 'read enterprise controls'
    | 'change enterprise controls'
    | 'read people'
    | 'change people'
    | 'read the audit'
    | 'change privacy'
    | 'manage budgets'
    | 'manage alerts'
    | 'manage vendors'
    | 'manage API keys'
    | 'end browser sessions'
    | 'read computers'
    | 'create computers'
    | 'change computers'
    | 'delete computers'
    | 'retry the provisioning of computers'
    | "change another person's computers"
    | 'create computers of service accounts'
    | 'upload files to computers'
    | 'upload files to computers of service accounts'
    | "upload files to another person's computers"
    | 'read readiness reports'
    | 'submit readiness reports'
    | 'send events'
    | 'send events of other users'
    | 'provision people'
  )[];
  days: {
    /**
     * first built day that has events, or null
     */
    first: string | null;
    /**
     * last built day that has events, or null
     */
    last: string | null;
    /**
     * closed days that wait for a build because they are stale or were never built, oldest first
     *
     * Items: a day in UTC
     */
    stale: string[];
  };
}
/**
 * an API key; the key itself is not stored
 */
export interface ApiKey {
  key_id: string;
  /**
   * what the key is for, or null
   */
  name: string | null;
  /**
   * what the key may do
   */
  role: 'owner' | 'manager' | 'member' | 'guest' | 'ingest' | 'scim';
  /**
   * the user or service that it belongs to, or null
   */
  user_id: string | null;
  /**
   * the user's address, or null
   */
  user_email: string | null;
  /**
   * names the key in logs and limits
   */
  fingerprint: string;
  /**
   * in Unix milliseconds
   */
  created_at: number;
  /**
   * the user whose credential created it, or the fingerprint of a credential of none; null if it wasn't created over HTTP
   */
  created_by: string | null;
  /**
   * when it ends; null if it never does, in Unix milliseconds
   */
  expires_at: number | null;
  /**
   * when it was revoked; null if it was not, in Unix milliseconds
   */
  revoked_at: number | null;
  /**
   * the last UTC day on which a request had the key; null if there was none
   */
  last_used_on: string | null;
  /**
   * whether it is the credential of this request
   */
  is_current: boolean;
}
export interface CreatedApiKey {
  key_id: string;
  /**
   * what the key is for, or null
   */
  name: string | null;
  /**
   * what the key may do
   */
  role: 'owner' | 'manager' | 'member' | 'guest' | 'ingest' | 'scim';
  /**
   * the user or service that it belongs to, or null
   */
  user_id: string | null;
  /**
   * the user's address, or null
   */
  user_email: string | null;
  /**
   * names the key in logs and limits
   */
  fingerprint: string;
  /**
   * in Unix milliseconds
   */
  created_at: number;
  /**
   * the user whose credential created it, or the fingerprint of a credential of none; null if it wasn't created over HTTP
   */
  created_by: string | null;
  /**
   * when it ends; null if it never does, in Unix milliseconds
   */
  expires_at: number | null;
  /**
   * when it was revoked; null if it was not, in Unix milliseconds
   */
  revoked_at: number | null;
  /**
   * the last UTC day on which a request had the key; null if there was none
   */
  last_used_on: string | null;
  /**
   * whether it is the credential of this request
   */
  is_current: boolean;
  /**
   * the key itself; shown only once
   */
  key: string;
}
export interface OrganizationStatus {
  /**
   * the organization
   */
  org_id: string;
  /**
   * day of the first event, or null
   */
  first_day: string | null;
  /**
   * events stored
   */
  events: number;
  /**
   * events stored of days that have not ended
   */
  events_of_open_day: number;
  /**
   * days that are built
   */
  days_built: number;
  /**
   * the newest of them, or null
   */
  newest_built_day: string | null;
  /**
   * closed days that wait for a build
   */
  days_stale: number;
  /**
   * the oldest of these, or null
   */
  oldest_stale_day: string | null;
  /**
   * rejected lines by the rule that they broke
   */
  rejects: {
    [k: string]: number;
  };
  /**
   * collectors and agents by their states
   */
  silence: {
    /**
     * collectors that report
     */
    live_collectors: number;
    /**
     * collectors that are silent, and nobody has said why
     */
    silent_collectors: number;
    /**
     * agents of people that are silent, and nobody has said why
     */
    silent_agents: number;
    /**
     * agents that have stopped with nothing left to send
     */
    idle_agents: number;
    /**
     * silent collectors and agents of which somebody knows why
     */
    acknowledged: number;
  };
  /**
   * that nobody has acknowledged, the newest first; empty for those who may not see people by name
   */
  silent_collectors: {
    /**
     * id of the user
     */
    user_id: string;
    /**
     * name of the collector's machine, or null
     */
    host: string | null;
    /**
     * day on which it last reported
     */
    last_day: string;
  }[];
  /**
   * that nobody has acknowledged, the newest first; empty for those who may not see people by name
   */
  silent_agents: {
    /**
     * id of the user
     */
    user_id: string;
    /**
     * the agent, empty if events name none
     */
    agent: string;
    /**
     * day on which it last reported
     */
    last_day: string;
  }[];
  without_user: {
    /**
     * the agent, empty if events name none
     */
    agent: string;
    /**
     * events of the last 14 days that don't say whose they are
     */
    events: number;
  }[];
  /**
   * vendors' reports that lack something
   */
  vendor_reports: {
    /**
     * the report of a vendor
     */
    report: string;
    /**
     * when it was pulled last: Unix milliseconds
     */
    pulled_at: number;
    /**
     * whether that was too long ago
     */
    is_late: boolean;
    /**
     * days that could not be fetched
     */
    missed_days: number;
    /**
     * the oldest of these, or null
     */
    oldest_missed_day: string | null;
    /**
     * the last fault, or null
     */
    fault: string | null;
  }[];
  /**
   * built days that have events, oldest first
   *
   * Items: a day in UTC
   */
  data_days: string[];
}
export interface SqlAnswer {
  /**
   * the rows
   */
  data: {
    [k: string]: unknown;
  }[];
  meta: {
    /**
     * with DuckDB's types
     */
    columns: {
      name: string;
      type: string;
    }[];
    row_count: number;
    /**
     * time taken to answer, in milliseconds
     */
    elapsed_ms: number;
    /**
     * what was published when the query read it
     */
    snapshot: {
      newest_day: string | null;
      published_at: string;
    };
  };
}
export interface SqlTable {
  name: string;
  kind: 'events' | 'day table' | 'reference' | 'record' | 'view';
  /**
   * what a row is
   */
  about: string;
  /**
   * columns that together identify a row
   */
  grain: string[];
  columns: {
    name: string;
    /**
     * type in DuckDB
     */
    type: string;
    comment: string | null;
  }[];
}
/**
 * the answer of OTLP
 */
export interface OtlpAnswer {
  /**
   * absent if no record was rejected and there is no advice
   */
  partialSuccess?: {
    /**
     * how many log records broke a rule
     */
    rejectedLogRecords?: string;
    /**
     * the same of data points
     */
    rejectedDataPoints?: string;
    /**
     * the same of spans
     */
    rejectedSpans?: string;
    /**
     * what would be accepted, or advice
     */
    errorMessage: string;
  };
}
export interface ReadinessReports {
  reports: ReadinessReport[];
}
/**
 * an evaluation of a repository
 */
export interface ReadinessReport {
  /**
   * id of the report
   */
  reportId: string;
  /**
   * when the report arrived, in Unix milliseconds
   */
  createdAt: number;
  /**
   * id of the repository
   */
  repoId: string;
  /**
   * level that the repository has reached; null if no criterion has one
   */
  level: number | null;
  /**
   * repository that was evaluated
   */
  repoUrl: string;
  /**
   * applications by path
   */
  apps: {
    [k: string]: {
      /**
       * what it is
       */
      description: string;
    };
  };
  /**
   * evaluations by criterion
   */
  report: {
    [k: string]: {
      /**
       * applications that pass
       */
      numerator: number;
      /**
       * applications that were evaluated
       */
      denominator: number;
      /**
       * what was found, or what is missing
       */
      rationale: string;
      /**
       * level of the criterion; not needed for a criterion that Daybook ships
       */
      level?: number;
    };
  };
  /**
   * commit at the evaluation
   */
  commitHash?: string;
  /**
   * branch at the evaluation
   */
  branch?: string;
  /**
   * whether there were uncommitted changes
   */
  hasLocalChanges?: boolean;
  /**
   * whether there were unpushed commits
   */
  hasNonRemoteCommits?: boolean;
  /**
   * absent if no model took part
   */
  modelUsed?: {
    /**
     * model that evaluated the repository
     */
    id: string;
    reasoningEffort: 'low' | 'medium' | 'high' | 'off';
  };
  /**
   * version of the program that made the report
   */
  agentVersion?: string;
}
export interface Repositories {
  repositories: RepositoryReadiness[];
}
/**
 * a repository by its newest report
 */
export interface RepositoryReadiness {
  /**
   * id of the repository
   */
  repoId: string;
  /**
   * its address in the newest report
   */
  repoUrl: string;
  /**
   * level of the latest report
   */
  level: number | null;
  latestReport: ReadinessReport;
  /**
   * levels that have criteria in the latest report, lowest first
   */
  metByLevel: {
    level: number;
    /**
     * how many it has
     */
    criteria: number;
    /**
     * share of its criteria that are met; 0.8 opens the next level
     */
    ratio: number;
  }[];
  /**
   * criteria that are not met, those that raise the level first
   */
  nextSteps: {
    /**
     * id of a criterion
     */
    id: string;
    /**
     * level of the criterion
     */
    level: number;
    /**
     * what holds if it is met; null if Daybook does not ship it
     */
    description: string | null;
  }[];
  /**
   * what has changed since the report before; null where there is none
   */
  change: {
    /**
     * id of the report
     */
    since: string;
    /**
     * levels gained or, below 0, lost; null where either report has none
     */
    level: number | null;
    /**
     * criteria whose counts have changed, by id
     */
    criteria: {
      /**
       * id of a criterion
       */
      id: string;
      /**
       * null where that report did not have it
       */
      before: {
        numerator: number;
        denominator: number;
      } | null;
      /**
       * null where the latest report does not have it
       */
      after: {
        numerator: number;
        denominator: number;
      } | null;
    }[];
  } | null;
}
