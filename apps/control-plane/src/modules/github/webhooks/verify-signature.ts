import { createHmac, timingSafeEqual } from 'node:crypto'

/** True if GitHub signed exactly these bytes. `header` is `x-hub-signature-256`. Takes the same time for every mismatch. */
export function verifySignature(secret: string, body: Uint8Array, header: string | undefined): boolean {
  const expected = createHmac('sha256', secret).update(body).digest()
  const hex = /^sha256=([0-9a-f]{64})$/.exec(header ?? '')?.[1]
  return (
    timingSafeEqual(expected, hex === undefined ? Buffer.alloc(32) : Buffer.from(hex, 'hex')) &&
    hex !== undefined
  )
}
