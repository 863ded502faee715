/** Text that is compressed once for each encoding, when a client first asks for it. */
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

export type PackedBody = { body: Buffer<ArrayBuffer>; encoding?: string }

const packers: Readonly<Record<string, (bytes: Buffer) => Promise<Buffer>>> = {
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (bytes) => promisify(gzip)(bytes, { level: 9 }),
}

/** Returns the first of our encodings that the client accepts, in our order. */
const encodingFor = (headers: Headers): string | undefined => {
  const accepted = headers.get('accept-encoding') ?? ''
  return Object.keys(packers).find((name) =>
    new RegExp(`(^|[ ,])${name}($|[ ,;](?!\\s*q=0(\\.0*)?($|,)))`).test(accepted),
  )
}

/** Returns a function that returns the body for the headers of a request. */
export function packOnce(plain: Buffer<ArrayBuffer>): (headers: Headers) => Promise<PackedBody> {
  const packed = new Map<string, Promise<Buffer<ArrayBuffer>>>()
  return async (headers) => {
    const encoding = encodingFor(headers)
    if (encoding === undefined || plain.length < 1024) return { body: plain }
    const body = packed.get(encoding) ?? packers[encoding]!(plain).then((bytes) => Buffer.from(bytes))
    packed.set(encoding, body)
    return { body: await body, encoding }
  }
}
