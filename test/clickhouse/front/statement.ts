/** A request of ClickHouse's HTTP interface. */
export interface Statement {
  readonly query: string;
  readonly database: string;
  readonly settings: Readonly<Record<string, string>>;
  /** With the backslashes that HTTP has in them. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The file of the rows that came with an INSERT. */
  readonly body?: string | undefined;
}

const VERB = /^(?:\s|--[^\n]*\n|\/\*[\s\S]*?\*\/|\()*(\w+)/;
const READS = new Set([
  'SELECT',
  'WITH',
  'SHOW',
  'DESCRIBE',
  'DESC',
  'EXPLAIN',
  'EXISTS',
  'KILL',
  'SET',
  'USE',
]);
const ON_CLUSTER = / ON CLUSTER '[\w.-]+'/;
const REPLICATED = /\bReplicated(\w*MergeTree)\('[^']*', '[^']*'(?:, )?/;
const ALL_REPLICAS = /\bclusterAllReplicas\('[^']*', system\.(\w+)\)/g;
/** Statements for a cluster are done when they are answered. */
const NO_QUEUE = "(SELECT '' AS cluster, '' AS query, '' AS status WHERE false)";
const ENGINE = /\bENGINE = \w*MergeTree\b/;

/** The first word of a statement, in upper case. */
export function verbOf(query: string): string {
  return VERB.exec(query)?.[1]?.toUpperCase() ?? '';
}

/** Whether a statement changes rows, tables, views or functions. */
export function isWriting({ query }: Statement): boolean {
  return !READS.has(verbOf(query));
}

/** Whether a statement is for all servers of a cluster. */
export function isOnCluster({ query }: Statement): boolean {
  return !['SELECT', 'WITH', 'INSERT'].includes(verbOf(query)) && ON_CLUSTER.test(query);
}

/**
 * A statement for an engine without a Keeper: its tables aren't replicated, and know the tokens of inserts as replicated ones do.
 */
export function withoutKeeper(statement: Statement): string {
  const text = (isOnCluster(statement) ? statement.query.replace(ON_CLUSTER, '') : statement.query)
    .replaceAll(ALL_REPLICAS, 'system.$1')
    .replace('system.distributed_ddl_queue', NO_QUEUE);
  // Whoever answers it has all rows, and a replica that comes later has them when it comes to this.
  if (verbOf(text) === 'SYSTEM') return 'SELECT 1';
  if (verbOf(text) !== 'CREATE') return text;
  const local = text.replace(REPLICATED, '$1(');
  const engineAt = local.search(ENGINE);
  if (engineAt < 0) return local;
  const [head, tail] = [local.slice(0, engineAt), local.slice(engineAt)];
  const window = 'SETTINGS non_replicated_deduplication_window = 10000';
  return (
    head +
    (/\bSETTINGS\b/.test(tail)
      ? tail.replace(/\bSETTINGS\b/, `${window},`)
      : tail.replace(/(?=\s+COMMENT '|\s+AS\s+(?:SELECT|WITH)|\s*;?\s*$)/, ` ${window}`))
  );
}
