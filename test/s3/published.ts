import { expect } from 'vitest';
import type { S3Server } from './s3-server.js';

/** The keys of the commits of an organization's Delta table, in order. */
export function commitsOf(server: S3Server, table: string, orgId: string): string[] {
  const commits = server
    .keys(`lake/${orgId}/${table}/_delta_log/`)
    .filter((key) => /\d{20}\.json$/.test(key));
  expect(commits.map((key) => Number(key.slice(-25, -5)))).toEqual([...commits.keys()]);
  return commits;
}

/** An organization's table as a reader of Delta Lake finds it: the files that its commits add and don't remove, from the first commit on. */
export function filesOf(server: S3Server, table: string, orgId: string): string[] {
  const files = new Set<string>();
  for (const key of commitsOf(server, table, orgId))
    for (const line of String(server.objects.get(key)).trim().split('\n')) {
      const { add, remove } = JSON.parse(line) as { add?: { path: string }; remove?: { path: string } };
      if (add !== undefined) files.add(add.path);
      if (remove !== undefined) expect(files.delete(remove.path)).toBe(true);
    }
  for (const path of files) expect(server.objects.has(`lake/${orgId}/${table}/${path}`)).toBe(true);
  return [...files].sort();
}

/** What the current snapshot of an organization names, which must be there. */
export function inSnapshot(server: S3Server, table: string, orgId: string): string[] {
  const snapshot = JSON.parse(String(server.objects.get(`lake/${orgId}/_snapshot.json`)));
  return snapshot.tables[table].files.map(({ path }: { path: string }) => path).sort();
}
