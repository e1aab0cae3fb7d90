import { STATUS_CODES } from 'node:http';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { z } from 'zod';

/** A status of errors: when it is returned, an example of its `detail`, and its headers. */
interface ErrorKind {
  readonly when: string;
  readonly detail: string;
  /** Headers with their default values. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Every status that an error can have (docs/api.md, "Errors"). */
export const ERRORS = {
  400: {
    when: 'A parameter, a member of the body, or the request itself is wrong.',
    detail: 'There is no parameter timezone: this route takes none.',
  },
  401: {
    when: 'The credential is missing or not valid.',
    detail: 'The request must have the header "Authorization: Bearer <API key>".',
    headers: { 'www-authenticate': 'Bearer' },
  },
  403: {
    when: "The credential's role may not do this.",
    detail: 'A credential of role guest may not do this.',
  },
  404: {
    when: 'Nothing is here.',
    detail: 'There is no endpoint /api/v1/analytics/nothing: /docs lists the endpoints.',
  },
  405: {
    when: "The path doesn't have this method.",
    detail: 'There is no DELETE here: use GET, HEAD.',
  },
  406: {
    when: 'The Accept header allows none of the formats of the answer.',
    detail: 'The answer is application/json.',
  },
  408: {
    when: 'The request took too long to arrive.',
    detail: 'The request took too long to arrive: send it again.',
  },
  409: { when: 'What the request creates already exists.', detail: 'This name is already taken.' },
  412: {
    when: 'What the request changes has changed since it was read.',
    detail: 'The revision is not the newest: read it again.',
  },
  413: { when: 'The body is too large.', detail: `The body must have at most ${2 ** 20} bytes.` },
  414: { when: 'The path is too long.', detail: 'A part of the path is too long.' },
  415: {
    when: "The route doesn't accept the body's type or encoding.",
    detail: "This route doesn't accept that Content-Type: send application/json.",
  },
  422: {
    when: 'The request is valid, but its answer exceeds a limit.',
    detail: 'The query takes more than 30 s: read fewer days, or group earlier.',
  },
  424: { when: 'Something that the request depends on failed.', detail: 'The bytes were never uploaded.' },
  429: {
    when: 'The credential, or the address without a valid credential, has used up its requests for this minute.',
    detail:
      'A credential, or an address without a valid credential, may send 6000 requests per minute: try again in 60 seconds.',
    headers: { 'retry-after': '60' },
  },
  431: {
    when: 'The path and the headers are too large.',
    detail: 'The path and headers must have at most 16 KiB together.',
  },
  500: {
    when: 'Something went wrong in the service; its log has the cause under the request id.',
    detail: 'The service failed; its log has the cause under this request id.',
  },
  503: {
    when: "The service can't do this at the moment.",
    detail: "The keys for checking JWTs can't be fetched at the moment: try again.",
    headers: { 'retry-after': '5' },
  },
} as const satisfies Record<number, ErrorKind>;

export type ErrorStatus = keyof typeof ERRORS;

/** The headers of every error with a status, with their default values. */
export function headersOf(status: ErrorStatus): Readonly<Record<string, string>> {
  const { headers = {} }: ErrorKind = ERRORS[status];
  return headers;
}

/** An error of a request, in one sentence that says what to do. */
export class ApiError extends Error {
  override name = 'ApiError';

  constructor(
    readonly status: ErrorStatus,
    readonly detail: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(detail);
  }
}

/** What RFC 7644 (3.12) calls an error of SCIM. */
export type ScimType =
  | 'invalidFilter'
  | 'invalidPath'
  | 'invalidSyntax'
  | 'invalidValue'
  | 'mutability'
  | 'noTarget'
  | 'uniqueness';

/** An error of SCIM. */
export class ScimError extends ApiError {
  override name = 'ScimError';

  constructor(
    status: 400 | 409,
    readonly scimType: ScimType,
    detail: string,
  ) {
    super(status, detail);
  }
}

/** The families of routes: each has one shape of errors. */
export type Family = 'v0' | 'v1' | 'otlp' | 'scim';

/** The family of a path, whether the path exists or not. */
export function familyOf(path: string): Family {
  if (/^\/otlp(\/|\?|$)/.test(path)) return 'otlp';
  if (/^\/scim(\/|\?|$)/.test(path)) return 'scim';
  return /^\/api\/v0(\/|\?|$)/.test(path) ? 'v0' : 'v1';
}

const SCIM_ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';

const Problem = z.object({
  title: z.string().meta({ description: 'title of the status' }),
  detail: z.string().meta({ description: 'one sentence that says what is wrong and what to do' }),
  status: z.int().min(400).max(599),
});

/** The bodies of errors: of v0, of everything else, and of OTLP and SCIM as their specifications have them. */
export const PROBLEMS = {
  v0: Problem.extend({ metadata: z.record(z.string(), z.unknown()).optional() }).meta({ id: 'Problem' }),
  v1: Problem.extend({
    requestId: z.string().meta({ description: 'the same as in x-request-id' }),
  }).meta({ id: 'ProblemWithRequest' }),
  otlp: z
    .object({ message: z.string().meta({ description: Problem.shape.detail.description }) })
    .meta({ id: 'Status', description: 'google.rpc.Status' }),
  scim: z.object({
    schemas: z.tuple([z.literal(SCIM_ERROR)]),
    status: z.string(),
    scimType: z.string().optional(),
    detail: Problem.shape.detail,
  }),
} as const satisfies Record<Family, z.ZodType>;

/** The media type of an error. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** The media type of SCIM, also of its errors. */
export const SCIM_TYPE = 'application/scim+json; charset=utf-8';

/** The media type of a family's errors as JSON. */
export function typeOfProblem(family: Family): string {
  return family === 'scim' ? SCIM_TYPE : JSON_TYPE;
}

/** The media type of a protobuf message. */
export const PROTOBUF_TYPE = 'application/x-protobuf';

/** The body of an error as JSON. */
export function problemOf(
  family: Family,
  status: ErrorStatus,
  detail: string,
  requestId: string,
  scimType: ScimType | undefined = status === 400 ? 'invalidSyntax' : undefined,
): object {
  if (family === 'otlp') return { message: detail };
  if (family === 'scim')
    return {
      schemas: [SCIM_ERROR],
      status: String(status),
      ...(scimType === undefined ? {} : { scimType }),
      detail,
    };
  const problem = { title: STATUS_CODES[status] ?? 'Error', detail, status };
  return family === 'v0' ? problem : { ...problem, requestId };
}

/** The body of an error of OTLP as protobuf: google.rpc.Status, whose field 2 is the message. */
export function protobufStatus(detail: string): Uint8Array {
  return new BinaryWriter().tag(2, WireType.LengthDelimited).string(detail).finish();
}
