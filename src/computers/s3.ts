import { createHash } from 'node:crypto';
import type { Agent as HttpsAgent } from 'node:https';
import { Readable } from 'node:stream';
import { certificateFaultOf } from '../network/certificate.js';
import { limited, SHORT_ANSWER_BYTES } from '../network/outgoing.js';
import { faultText } from '../network/provider-text.js';
import { wayTo } from '../network/proxy-agent.js';
import type { S3Address } from '../settings/store-address.js';
import type { DirectAddresses, Objects } from './object-storage.js';

/** How long connecting to the store can take, and how long it can be silent. */
const CONNECT_MS = 10_000;
const SILENT_MS = 60_000;

/** Stores objects in a bucket. Senders and computers get addresses of the bucket itself. The AWS SDK finds the credentials. */
export class S3Objects implements Objects {
  private loaded: Promise<Sdk> | undefined;

  constructor(private readonly address: S3Address) {}

  readonly direct: DirectAddresses = {
    put: async (key, sizeBytes, seconds) => {
      const { client, s3, presigner } = await this.sdk();
      const command = new s3.PutObjectCommand({ ...this.object(key), ContentLength: sizeBytes });
      // The length is signed too, so that the bucket accepts nothing longer.
      return presigner.getSignedUrl(client, command, {
        expiresIn: seconds,
        signableHeaders: new Set(['host', 'content-length']),
      });
    },
    get: async (key, seconds) => {
      const { client, s3, presigner } = await this.sdk();
      return presigner.getSignedUrl(client, new s3.GetObjectCommand(this.object(key)), {
        expiresIn: seconds,
      });
    },
  };

  async size(key: string): Promise<number | undefined> {
    const { client, s3 } = await this.sdk();
    try {
      return (await client.send(new s3.HeadObjectCommand(this.object(key)))).ContentLength;
    } catch (error) {
      if (error instanceof s3.S3ServiceException && error.$metadata.httpStatusCode === 404) return undefined;
      throw await faultOf(error, client);
    }
  }

  async sha256(key: string, sizeBytes: number): Promise<string> {
    const { client, s3 } = await this.sdk();
    const hash = createHash('sha256');
    try {
      const { Body } = await client.send(new s3.GetObjectCommand(this.object(key)));
      // In Node.js, the body is a Node.js stream.
      for await (const chunk of limited(Body as Readable, sizeBytes)) hash.update(chunk);
    } catch (error) {
      throw await faultOf(error, client);
    }
    return hash.digest('hex');
  }

  async remove(key: string): Promise<void> {
    const { client, s3 } = await this.sdk();
    try {
      await client.send(new s3.DeleteObjectCommand(this.object(key)));
    } catch (error) {
      throw await faultOf(error, client);
    }
  }

  private object(key: string) {
    return { Bucket: this.address.bucket, Key: `${this.address.prefix}${key}` };
  }

  /** Loads the SDK on first use: it is slow to load, and not needed if objects are kept in a folder. */
  private sdk(): Promise<Sdk> {
    this.loaded ??= load(this.address);
    return this.loaded;
  }
}

/**
 * The error that is logged for a failure. TRICKY: the SDK's own error isn't safe to log: it has the store's answer, which can
 * repeat the request with its session token.
 */
async function faultOf(error: unknown, { config }: Sdk['client']): Promise<Error> {
  const credentials = await config.credentials().catch(() => undefined);
  const secrets = [credentials?.accessKeyId, credentials?.secretAccessKey, credentials?.sessionToken];
  const fault = certificateFaultOf(error);
  const name = error instanceof Error ? `${error.name}: ` : '';
  return new Error(
    fault === undefined
      ? `The object store failed (${name}${faultText(error, secrets)}).`
      : `The object store can't be reached, because ${fault}.`,
  );
}

type Sdk = Awaited<ReturnType<typeof load>>;

async function load({ region, endpoint, bucket }: S3Address) {
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
