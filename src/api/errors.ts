import { STATUS_CODES } from 'node:http';

/** What went wrong with a request, in one sentence that says what would be accepted. One renderer per family shows it. */
export class ApiError extends Error {
  override name = 'ApiError';

  constructor(
    readonly status: 400 | 401 | 403 | 404 | 405 | 406 | 409 | 413 | 415 | 429 | 500 | 503,
    readonly detail: string,
  ) {
    super(detail);
  }
}

/** The body of an analytics error (public-api.md 7). */
export interface AnalyticsProblem {
  readonly title: string;
  readonly detail: string;
  readonly status: number;
  readonly requestId: string;
}

export function analyticsProblem(status: number, detail: string, requestId: string): AnalyticsProblem {
  return { title: STATUS_CODES[status] ?? 'Error', detail, status, requestId };
}
