/**
 * An object store on an S3 server. The client library is loaded on first use. Checksums are sent only where S3 requires
 * them, because other servers refuse the newer kinds. That is safe: every object is encrypted and authenticated.
 */
import type { S3Client } from '@aws-sdk/client-s3'
import { checkedKey, ObjectMissing, type ObjectStore } from './object-store.ts'

export type S3StoreOptions = {
  /** URL of the server. Undefined: the AWS endpoint of the region. */
  endpoint: string | undefined
  region: string
  bucket: string
  /** Prefix of every key, without a trailing slash. May be empty. */
  prefix: string
  /** True if the bucket is in the path, false if it is in the host name. */
  pathStyle: boolean
  accessKeyId: string
  secretAccessKey: string
}

const requestTimeoutMs = 60_000
const connectionTimeoutMs = 5_000

const isMissing = (error: unknown): boolean =>
  (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode === 404

export function createS3Store(options: S3StoreOptions): ObjectStore {
  const { bucket, prefix } = options
  const library = () => import('@aws-sdk/client-s3')
  let client: Promise<S3Client> | undefined
  const connect = async (): Promise<S3Client> => {
    const { S3Client } = await library()
    return new S3Client({
      region: options.region,
      ...(options.endpoint === undefined ? {} : { endpoint: options.endpoint }),
      forcePathStyle: options.pathStyle,
      credentials: { accessKeyId: options.accessKeyId, secretAccessKey: options.secretAccessKey },
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: { requestTimeout: requestTimeoutMs, connectionTimeout: connectionTimeoutMs },
    })
  }
  const connected = (): Promise<S3Client> => {
    client ??= connect()
    return client
  }
  const keyPrefix = prefix === '' ? '' : `${prefix}/`
  const place = (key: string) => ({ Bucket: bucket, Key: `${keyPrefix}${checkedKey(key)}` })

  return {
    description: `S3 bucket ${bucket}${options.endpoint ? ` at ${new URL(options.endpoint).host}` : ''}`,
    // A full server fails the write itself.
    requireRoom: async () => undefined,
    put: async (key, bytes) => {
      const { PutObjectCommand } = await library()
      await (await connected()).send(
        new PutObjectCommand({ ...place(key), Body: bytes, ContentLength: bytes.byteLength }),
      )
    },
    get: async (key) => {
      const { GetObjectCommand } = await library()
      try {
        const answer = await (await connected()).send(new GetObjectCommand(place(key)))
        if (!answer.Body) throw new ObjectMissing(key)
        return Buffer.from(await answer.Body.transformToByteArray())
      } catch (error) {
        if (isMissing(error)) throw new ObjectMissing(key)
        throw error
      }
    },
    delete: async (key) => {
      const { DeleteObjectCommand } = await library()
      try {
        await (await connected()).send(new DeleteObjectCommand(place(key)))
      } catch (error) {
        if (!isMissing(error)) throw error
      }
    },
    async *list(wanted) {
      const { paginateListObjectsV2 } = await library()
      const pages = paginateListObjectsV2(
        { client: await connected(), pageSize: 1000 },
        { Bucket: bucket, Prefix: `${keyPrefix}${wanted}` },
      )
      for await (const page of pages) {
        for (const { Key, Size, LastModified } of page.Contents ?? []) {
          if (Key === undefined) continue
          yield {
            key: Key.slice(keyPrefix.length),
            sizeBytes: Size ?? 0,
            modifiedAt: LastModified ?? new Date(0),
          }
        }
      }
    },
  }
}
