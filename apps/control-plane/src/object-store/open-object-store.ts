/** Chooses the store from its address: `s3://…` for a server, a folder of the data folder where none is set. */
import { createFolderStore } from './folder-store.ts'
import type { ObjectStore } from './object-store.ts'
import { createS3Store, type S3StoreOptions } from './s3-store.ts'

const hint = 'write it as s3://KEY:SECRET@BUCKET/PREFIX?endpoint=https://…&region=…&style=path'

/**
 * Reads `s3://KEY:SECRET@BUCKET/PREFIX?endpoint=…&region=…&style=path|virtual`: key and secret percent-encoded, the
 * prefix may be missing, `region` is us-east-1 and `style` path where not said. Throws what to correct, never the secret.
 */
export function parseObjectStoreUrl(address: string): S3StoreOptions {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol !== 's3:' || url.hostname === '') throw new Error(`OBJECT_STORE_URL: ${hint}`)
  if (url.username === '' || url.password === '') {
    throw new Error(`OBJECT_STORE_URL: the key or the secret is missing; ${hint}`)
  }
  const style = url.searchParams.get('style') ?? 'path'
  if (style !== 'path' && style !== 'virtual')
    throw new Error('OBJECT_STORE_URL: style is either path or virtual')
  const endpoint = url.searchParams.get('endpoint') ?? undefined
  if (endpoint !== undefined && !/^https?:$/.test(URL.canParse(endpoint) ? new URL(endpoint).protocol : '')) {
    throw new Error('OBJECT_STORE_URL: endpoint must be an http or https address')
  }
  const prefix = decodeURIComponent(url.pathname).replace(/^\/+|\/+$/g, '')
  return {
    endpoint,
    region: url.searchParams.get('region') ?? 'us-east-1',
    bucket: url.hostname,
    prefix,
    pathStyle: style === 'path',
    accessKeyId: decodeURIComponent(url.username),
    secretAccessKey: decodeURIComponent(url.password),
  }
}

/**
 * The store at `address`, or the folder where no address is given, which leaves `reserveBytes` of its disk free. Nothing
 * is connected until its first use.
 */
export function openObjectStore(address: string | undefined, folder: string, reserveBytes = 0): ObjectStore {
  return address === undefined
    ? createFolderStore(folder, reserveBytes)
    : createS3Store(parseObjectStoreUrl(address))
}
