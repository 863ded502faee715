/** The frames that the gateway exchanges with forwarder-program.pl: length, type, stream, payload. */

export const frameType = {
  connect: 1,
  connectUnix: 2,
  listen: 3,
  listenUnix: 4,
  listenAgent: 5,
  unlisten: 6,
  data: 7,
  finish: 8,
  close: 9,
  grant: 10,
  opened: 11,
  failed: 12,
  accepted: 13,
} as const

/** Bytes of one stream that may be under way in one direction. The program uses the same numbers. */
export const windowBytes = 262_144
export const chunkBytesMax = 32_768

export type Frame = { type: number; stream: number; payload: Buffer }

const headerBytes = 9
/** The program sends no larger frames. The length comes from a Dock, so it is checked. */
const lengthMax = chunkBytesMax + 1024

export function encodeFrame(type: number, stream: number, payload: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(headerBytes + payload.length)
  frame.writeUInt32BE(5 + payload.length, 0)
  frame.writeUInt8(type, 4)
  frame.writeUInt32BE(stream, 5)
  payload.copy(frame, headerBytes)
  return frame
}

/** Returns a function that takes bytes as they arrive and calls `onFrame` for each frame. It throws on a wrong length. */
export function createFrameReader(onFrame: (frame: Frame) => void): (bytes: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  return (bytes) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes])
    let at = 0
    while (rest.length - at >= 4) {
      const length = rest.readUInt32BE(at)
      if (length < 5 || length > lengthMax) throw new Error(`a frame of ${length} bytes`)
      if (rest.length - at < 4 + length) break
      onFrame({
        type: rest.readUInt8(at + 4),
        stream: rest.readUInt32BE(at + 5),
        payload: rest.subarray(at + headerBytes, at + 4 + length),
      })
      at += 4 + length
    }
    rest = rest.subarray(at)
  }
}
