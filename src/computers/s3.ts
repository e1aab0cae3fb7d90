import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { certificateFaultOf } from '../certificate.js';
import type { S3Address } from '../store-address.js';
import type { DirectAddresses, Objects } from './object-storage.js';

/** Objects in a bucket. Senders and computers get addresses of the bucket itself. Credentials are found as the AWS SDK does. */
export class S3Objects implements Objects {
  private loaded: Promise<Sdk> | undefined;

  constructor(private readonly address: S3Address) {}

  readonly direct: DirectAddresses = {
    put: async (key, sizeBytes, seconds) => {
      const { client, s3, presigner } = await this.sdk();
      const command = new s3.PutObjectCommand({ ...this.object(key), ContentLength: sizeBytes });
      // The length is signed too, so that nothing longer is taken.
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
      const head = await orFault(client.send(new s3.HeadObjectCommand(this.object(key))));
      return head.ContentLength;
    } catch (error) {
      if (error instanceof s3.S3ServiceException && error.$metadata.httpStatusCode === 404) return undefined;
      throw error;
    }
  }

  async sha256(key: string): Promise<string> {
    const { client, s3 } = await this.sdk();
    const { Body } = await orFault(client.send(new s3.GetObjectCommand(this.object(key))));
    const hash = createHash('sha256');
    // In Node.js a body is a stream of Node.js.
    for await (const chunk of Body as Readable) hash.update(chunk as Buffer);
    return hash.digest('hex');
  }

  async remove(key: string): Promise<void> {
    const { client, s3 } = await this.sdk();
    await orFault(client.send(new s3.DeleteObjectCommand(this.object(key))));
  }

  private object(key: string) {
    return { Bucket: this.address.bucket, Key: `${this.address.prefix}${key}` };
  }

  /** The SDK takes its time to load: who keeps objects in a folder never does. */
  private sdk(): Promise<Sdk> {
    this.loaded ??= load(this.address);
    return this.loaded;
  }
}

/** Names a certificate as the reason when that is why the store can't be reached. */
async function orFault<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const fault = certificateFaultOf(error);
    if (fault === undefined) throw error;
    throw new Error(`The object store can't be reached, because ${fault}.`, { cause: error });
  }
}

type Sdk = Awaited<ReturnType<typeof load>>;

async function load({ region, endpoint }: S3Address) {
  const [s3, presigner] = await Promise.all([
    import('@aws-sdk/client-s3'),
    import('@aws-sdk/s3-request-presigner'),
  ]);
  const client = new s3.S3Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    // TRICKY: by default an address for PUT would have the checksum of no bytes in it.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  return { client, s3, presigner };
}
