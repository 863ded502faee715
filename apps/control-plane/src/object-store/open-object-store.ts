/** Opens the configured object store: S3 for an `s3://…` address, or a folder if there is no address. */
import { createFolderStore } from './folder-store.ts'
import type { ObjectStore } from './object-store.ts'
import { createS3Store, type S3StoreOptions } from './s3-store.ts'

const hint = 'write it as s3://KEY:SECRET@BUCKET/PREFIX?endpoint=https://…&region=…&style=path'

/**
 * Parses `s3://KEY:SECRET@BUCKET/PREFIX?endpoint=…&region=…&style=path|virtual`. Key and secret are percent-encoded.
 * The prefix is optional. `region` defaults to us-east-1, `style` to path. Errors say what to correct and never contain
 * the secret.
 */
export function parseObjectStoreUrl(address: string): S3StoreOptions {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol !== 's3:' || url.hostname === '') throw new Error(`OBJECT_STORE_URL: ${hint}`)
  if (url.username === '' || url.password === '') {
    throw new Error(`OBJECT_STORE_URL: the key or the secret is missing; ${hint}`)
  }
  const style = url.searchParams.get('style') ?? 'path'
  if (style !== 'path' && style !== 'virtual')
    throw new Error('OBJECT_STORE_URL: style must be path or virtual')
  const endpoint = url.searchParams.get('endpoint') ?? undefined
  if (endpoint !== undefined && !/^https?:$/.test(URL.canParse(endpoint) ? new URL(endpoint).protocol : '')) {
    throw new Error('OBJECT_STORE_URL: endpoint must be an http or https URL')
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
 * Opens the S3 store at `address`, or a store in `folder` that leaves `reserveBytes` of its disk free. It connects on
 * first use.
 */
export function openObjectStore(address: string | undefined, folder: string, reserveBytes = 0): ObjectStore {
  return address === undefined
    ? createFolderStore(folder, reserveBytes)
    : createS3Store(parseObjectStoreUrl(address))
}
