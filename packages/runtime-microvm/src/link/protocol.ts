/** The constants of the wire format. agent/protocol.md explains it, and a test compares these with agent/protocol.h. */

export const protocol = { newest: 1, oldest: 1 } as const

/** Sizes in bytes, unless the name says otherwise. */
export const sizes = {
  header: 12,
  payloadMax: 65_536,
  nonce: 16,
  /** Bytes of one stream that the receiver has not acknowledged. */
  window: 262_144,
  /** A request to open a program, which may take several frames. */
  openMax: 1_048_576,
  stringsMax: 16_384,
  channelsMax: 1_024,
  nameMax: 15,
  textMax: 400,
  killedNamesMax: 16,
} as const

/** Follows each payload. A frame that zeros completed, after a connection broke, lacks it. */
export const endByte = 0xa5

export const types = {
  // From the host.
  ...{ hello: 1, open: 2, dial: 3, attach: 4, close: 5, signal: 6, resize: 7, call: 8 },
  // In both directions.
  ...{ data: 32, end: 33, ack: 34 },
  // From the guest.
  ...{ welcome: 65, opened: 66, refused: 67, attached: 68, exited: 69, closed: 70, reply: 71, log: 72 },
  outOfMemory: 73,
} as const

/** Flag of `open`: another frame of this request follows. */
export const flagMore = 1

/** How to open a program. */
export const openFlags = { terminal: 1, waitsForOutputs: 2, platform: 4 } as const

/** Why the guest refused to open or attach. */
export const refusals = {
  request: 1,
  folder: 2,
  program: 3,
  limit: 4,
  unknown: 5,
  connection: 6,
} as const
export type RefusalReason = keyof typeof refusals

/** Whom a signal reaches. */
export const targets = { process: 0, group: 1, attached: 2, tree: 3 } as const

/** State of a program. */
export const states = { terminal: 1, ended: 2, socket: 4 } as const
export const processFlags = { platform: 1 } as const
export const machineStates = { waits: 0, runs: 1 } as const

export const calls = {
  ...{ ping: 1, go: 2, identity: 3, processes: 4, programs: 5, usage: 6, rename: 7, clock: 8, sync: 9 },
  ...{ freeze: 10, thaw: 11, grow: 12, powerOff: 13 },
} as const
