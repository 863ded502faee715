/** What the host asks of a guest, as bytes. */
import { openFlags, sizes } from './protocol.ts'

export type OpenRequest = {
  /** A program without a slash is searched in the PATH of `env`. */
  argv: readonly string[]
  /** A file that runs in place of `argv[0]`, with the same `argv`, if the guest has it. */
  executable?: string | undefined
  env: Readonly<Record<string, string>>
  cwd: string
  uid: number
  gid: number
  /** A mask of capabilities by number that the program gets although its user is not root. */
  capabilities?: bigint
  pty?: { cols: number; rows: number } | undefined
  /** The outputs end when nobody holds them any more, instead of with the program. */
  waitsForOutputs?: boolean | undefined
  /** A service of the platform: outside of the groups whose memory is limited. */
  isPlatform?: boolean | undefined
}

const headBytes = 32

/** The largest size that a terminal takes. */
const terminalSize = (wanted: number): number => Math.min(65_535, Math.max(1, Math.trunc(wanted) || 1))

/** Throws a RangeError if the request is larger than a guest takes, or holds a zero byte. */
export function encodeOpen(request: OpenRequest): Buffer {
  const { argv, executable = '', env, cwd, uid, gid, pty, capabilities = 0n } = request
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const strings = [cwd, executable, ...argv, ...variables]
  if (strings.some((each) => each.includes('\0'))) throw new RangeError('a string contains a zero byte')
  if (argv.length === 0 || !argv[0]) throw new RangeError('no program')
  if (strings.length + 4 > sizes.stringsMax) throw new RangeError('too many arguments and variables')
  const head = Buffer.alloc(headBytes)
  head.writeUInt32LE(
    (pty ? openFlags.terminal : 0) |
      (request.waitsForOutputs ? openFlags.waitsForOutputs : 0) |
      (request.isPlatform ? openFlags.platform : 0),
    0,
  )
  head.writeUInt32LE(uid, 4)
  head.writeUInt32LE(gid, 8)
  head.writeUInt16LE(pty ? terminalSize(pty.rows) : 0, 12)
  head.writeUInt16LE(pty ? terminalSize(pty.cols) : 0, 14)
  head.writeBigUInt64LE(capabilities, 16)
  head.writeUInt32LE(argv.length, 24)
  head.writeUInt32LE(variables.length, 28)
  const bytes = Buffer.concat([head, Buffer.from(`${strings.join('\0')}\0`)])
  if (bytes.length > sizes.openMax) throw new RangeError('the arguments and variables are too long')
  return bytes
}

/** Returns a size of a terminal as bytes. */
export function encodeSize(cols: number, rows: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt16LE(terminalSize(cols), 0)
  bytes.writeUInt16LE(terminalSize(rows), 2)
  return bytes
}

/** What makes a machine itself, also after a restore. */
export type GuestIdentity = {
  /** Nanoseconds since 1970. */
  clock: bigint
  /** Random bytes of the host, at most 64. */
  entropy: Buffer
  hostname: string
  network?: { address: string; mask: string; gateway: string; mac?: string; mtu?: number } | undefined
}

/** What a machine needs to run programs. */
export type GuestConfig = GuestIdentity & {
  /** The disk with the root filesystem. The guest waits until it has this size, and fills it if it `grows`. */
  disk?: { serial: string; bytes?: number; grows?: boolean } | undefined
  /** The disk with the kernel's modules. */
  modules?: { serial: string; type: string } | undefined
  /** Memory that all programs may take together. Default: what is free when the machine gets its configuration. */
  memoryBytesMax?: number | undefined
  /** Processes and threads of all programs together. Default: as many as the kernel allows. */
  processesMax?: number | undefined
  /** A folder in memory; files created in it belong to the group. */
  memoryFolder?: { path: string; gid: number; sizeMiB: number } | undefined
  /** Name of the control group of all programs. Only tests set it. */
  group?: string | undefined
}

type Entry = [name: string, value: string | number | bigint | undefined]

/** Returns the entries that have a value. Throws a RangeError if they are more than a guest takes. */
const encodeEntries = (entries: readonly Entry[]): Buffer => {
  const given = entries.filter(([, value]) => value !== undefined && value !== '')
  const texts = given.map(([name, value]) => `${name}=${value}`)
  if (texts.some((text) => text.includes('\0'))) throw new RangeError('a value contains a zero byte')
  const bytes = Buffer.from(texts.map((text) => `${text}\0`).join(''))
  if (bytes.length > sizes.payloadMax) throw new RangeError('the configuration is too long')
  return bytes
}

const identityEntries = ({ clock, entropy, hostname, network }: GuestIdentity): Entry[] => [
  ['clock', clock],
  ['entropy', entropy.toString('hex')],
  ['hostname', hostname],
  ...Object.entries(network ?? {}),
]

export function encodeIdentity(identity: GuestIdentity): Buffer {
  return encodeEntries(identityEntries(identity))
}

export function encodeConfig(config: GuestConfig): Buffer {
  const { disk, modules, memoryBytesMax, memoryFolder, processesMax, group } = config
  return encodeEntries([
    ...identityEntries(config),
    ['disk', disk?.serial],
    ['disk-size', disk?.bytes],
    ['grow', disk?.grows ? 1 : undefined],
    ['modules', modules?.serial],
    ['modules-type', modules?.type],
    ['memory-max', memoryBytesMax],
    ['processes-max', processesMax],
    ['memory-folder', memoryFolder && `${memoryFolder.gid}:${memoryFolder.sizeMiB}:${memoryFolder.path}`],
    ['group', group],
  ])
}
