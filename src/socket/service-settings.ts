import type { Config } from '../settings/config.js';

/** The service's settings that commands on its data folder follow. None of them is a secret. */
export type ServiceSettings = ReturnType<typeof serviceSettings>;

export function serviceSettings({ host, port, tls, historyStart, lakeKeepDays, ...config }: Config) {
  return {
    ...{ host, port, tls, historyStart, lakeKeepDays },
    isClickHouse: config.clickhouse !== undefined,
    hasSecretKey: config.secretKey !== undefined,
  };
}
