import { createHmac, timingSafeEqual } from 'node:crypto'

const form = /^sha256=([0-9a-f]{64})$/

/** True if `header` has the form of a signature. */
export function isSignature(header: string | undefined): header is string {
  return form.test(header ?? '')
}

/** True if GitHub signed exactly these bytes. `header` is `x-hub-signature-256`. Takes the same time for every mismatch. */
export function verifySignature(secret: string, body: Uint8Array, header: string | undefined): boolean {
  const expected = createHmac('sha256', secret).update(body).digest()
  const hex = form.exec(header ?? '')?.[1]
  return (
    timingSafeEqual(expected, hex === undefined ? Buffer.alloc(32) : Buffer.from(hex, 'hex')) &&
    hex !== undefined
  )
}
