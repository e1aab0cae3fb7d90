import type { Agent as HttpsAgent } from 'node:https';
import { Readable } from 'node:stream';
import { codeOf } from '../exit.js';
import { certificateFaultOf } from '../network/certificate.js';
import { limited, SHORT_ANSWER_BYTES } from '../network/outgoing.js';
import { faultText } from '../network/provider-text.js';
import { wayTo } from '../network/proxy-agent.js';
import type { S3Address } from '../settings/store-address.js';

/** How long connecting to the store can take, and how long it can be silent. */
const CONNECT_MS = 10_000;
const SILENT_MS = 60_000;

/** A request to the object store failed. The message is safe to log. */
export class BucketFault extends Error {
  override name = 'BucketFault';

  constructor(
    message: string,
    /** The status of the store's answer; undefined without one. */
    readonly status: number | undefined,
    /** S3's code of the error; '' without one. */
    readonly code: string,
  ) {
    super(message);
  }
}

/** The SDK with a client for an address. */
export type Sdk = Awaited<ReturnType<typeof load>>;

const loaded = new WeakMap<S3Address, Promise<Sdk>>();

/** Loads the SDK on first use: it is slow to load, and not needed if everything is kept in a folder. */
export function sdkOf(address: S3Address): Promise<Sdk> {
  const known = loaded.get(address) ?? load(address);
  loaded.set(address, known);
  return known;
}

/** The status of the answer to a request that failed; undefined without an answer. */
export function statusOf(error: unknown): number | undefined {
  if (error instanceof BucketFault) return error.status;
  const { $metadata } = error as { $metadata?: { httpStatusCode?: number } };
  return $metadata?.httpStatusCode;
}

/** Whether there is no such object. */
export function isGone(error: unknown): boolean {
  return statusOf(error) === 404 && !(error instanceof BucketFault && error.code === 'NoSuchBucket');
}

/** Statuses after which S3 wants a request again: 409 is two conditional writes at once, 503 is SlowDown. */
const PASSING = [408, 409, 429, 500, 502, 503, 504];

/** Whether a request that failed can succeed when it is sent again. */
export function isPassing(error: unknown): boolean {
  const status = statusOf(error);
  // The SDK then knows the store's clock.
  if (error instanceof Error && ['RequestTimeTooSkewed', 'RequestExpired'].includes(error.name)) return true;
  if (status !== undefined && status >= 300) return PASSING.includes(status);
  return (
    codeOf(error) !== '' ||
    (error instanceof Error && ['AbortError', 'TimeoutError', 'NetworkingError'].includes(error.name))
  );
}

/**
 * The error that is logged for a failure. TRICKY: the SDK's own error isn't safe to log: it has the store's answer, which can
 * repeat the request with its session token.
 */
export async function faultOf(error: unknown, { client }: Sdk): Promise<unknown> {
  // An error of what was done with the answer is the caller's own.
  if (error instanceof Error && statusOf(error) === undefined && !isPassing(error)) return error;
  const credentials = await client.config.credentials().catch(() => undefined);
  const secrets = [credentials?.accessKeyId, credentials?.secretAccessKey, credentials?.sessionToken];
  const fault = certificateFaultOf(error);
  const code = error instanceof Error ? error.name : '';
  return new BucketFault(
    fault === undefined
      ? `The object store failed (${code === '' ? '' : `${code}: `}${faultText(error, secrets)}).`
      : `The object store can't be reached, because ${fault}.`,
    statusOf(error),
    code,
  );
}

const nothing = () => {};
/** The SDK would print to the console that it doesn't try again. */
const SILENT = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing };

async function load({ region, endpoint, bucket }: S3Address) {
  // It says of versions to come that they won't run here. This one does.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  const [s3, presigner] = await Promise.all([
    import('@aws-sdk/client-s3'),
    import('@aws-sdk/s3-request-presigner'),
  ]);
  const { agent } = await wayTo(new URL(endpoint ?? `https://${bucket}.s3.${region}.amazonaws.com`), {
    keepAlive: true,
  });
  const client = new s3.S3Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    // TRICKY: by default, an address for PUT would be signed with the checksum of an empty body.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // Bucket tries again by itself, since the SDK can't read a stream twice.
    maxAttempts: 1,
    logger: SILENT,
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      socketTimeout: SILENT_MS,
      ...(agent === undefined ? {} : { httpAgent: agent, httpsAgent: agent as HttpsAgent }),
    },
  });
  // Limits all answers but objects: only those are long, and their reader knows their length.
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const result = await next(args);
        const answer = result.response as { statusCode: number; body: unknown };
        const isObject = commandName === 'GetObjectCommand' && answer.statusCode < 300;
        if (!isObject && answer.body instanceof Readable)
          answer.body = Readable.from(limited(answer.body, SHORT_ANSWER_BYTES));
        return result;
      },
    { step: 'deserialize', priority: 'low' },
  );
  return { client, s3, presigner };
}
