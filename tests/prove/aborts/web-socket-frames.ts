/** Frames of a WebSocket client (RFC 6455, section 5.2), proper ones and others. */
import type { Random } from './random.ts'

export const opcodes = { text: 1, binary: 2, close: 8, ping: 9 } as const

/** Returns a masked frame. */
export function frameOf(opcode: number, payload: Buffer | string, first = 0x80): Buffer {
  const bytes = Buffer.from(payload)
  const mask = Buffer.from([7, 1, 9, 4])
  const length =
    bytes.length < 126
      ? Buffer.from([0x80 | bytes.length])
      : Buffer.from([0x80 | 126, bytes.length >> 8, bytes.length & 255])
  return Buffer.concat([
    ...[Buffer.from([first | opcode]), length, mask],
    bytes.map((byte, at) => byte ^ mask[at % mask.length]!),
  ])
}

/** Returns bytes that break the rules: no mask, a length beyond every limit, reserved bits, or no frame at all. */
export function brokenFrame(random: Random): Buffer {
  return random.pick([
    Buffer.from([0x82, 3, 1, 2, 3]),
    Buffer.from([0x82, 0xff, 0x7f, 255, 255, 255, 255, 255, 255, 255, 1, 2, 3, 4]),
    frameOf(3, 'reserved'),
    frameOf(opcodes.binary, 'bits', 0xf0),
    frameOf(0, 'continues nothing'),
    frameOf(opcodes.close, Buffer.from([3])),
    random.bytes(1 + random.below(40)),
    // The rest never comes.
    frameOf(opcodes.binary, Buffer.alloc(60_000)).subarray(0, 1 + random.below(60_000)),
  ])
}

/** The headers of a proper upgrade. */
export const upgradeHeaders: Record<string, string> = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}
