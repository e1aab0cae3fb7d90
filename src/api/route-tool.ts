import type { z } from 'zod';
import type { Action } from './roles.js';

/** What AI agents are told of a tool. */
export interface ToolText {
  readonly name: string;
  readonly title: string;
  /** What it answers, and when to use it. */
  readonly about: string;
}

/** A route as a tool for AI agents, or as one of the answers of a tool. */
export interface RouteTool {
  readonly tool: ToolText;
  /** The value of the argument `answer` if several routes are one tool, and what this answer is. */
  readonly answer?: { readonly name: string; readonly about: string };
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly action: Action;
  /** The query parameters of a GET, the body of a POST. */
  readonly input: z.ZodType;
  /** The media type to ask for: JSON with `data` and `meta`, or lines of JSON. */
  readonly form: 'application/json' | 'application/x-ndjson';
  /** How to get what was left out of an answer that is too large. */
  readonly rest: string;
  /** What to show of the rows, if that isn't all. */
  readonly shown?: (
    rows: readonly Readonly<Record<string, unknown>>[],
    args: Readonly<Record<string, unknown>>,
  ) => readonly Readonly<Record<string, unknown>>[];
}
