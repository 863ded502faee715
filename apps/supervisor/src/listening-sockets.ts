/**
 * The listening sockets for callers and the embedded agent. The supervisor opens them and passes the descriptors to each
 * control plane. While the control plane restarts, connections wait and no other program can take the address. Uses system
 * calls, because Node cannot listen on a socket without accepting its connections.
 */
import { lookup } from 'node:dns/promises'
import { closeSync } from 'node:fs'
import { chmod, lstat, mkdir, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import koffi from 'koffi'

const libc = koffi.load(null)
const socket = libc.func('int socket(int family, int type, int protocol)')
const bind = libc.func('int bind(int descriptor, const void *address, uint32_t length)')
const listen = libc.func('int listen(int descriptor, int backlog)')
const setOption = libc.func(
  'int setsockopt(int descriptor, int level, int name, const void *value, uint32_t length)',
)
const toBytes = libc.func('int inet_pton(int family, const char *text, _Out_ uint8_t *bytes)')

const [unixFamily, ipv4Family, ipv6Family] = [1, 2, 10]
/** SOCK_STREAM with SOCK_CLOEXEC. */
const streamType = 0o2000001
const [socketLevel, reuseAddress] = [1, 2]
const backlog = 511
const pathBytesMax = 107
const [accessDenied, addressInUse] = [13, 98]

/** The setting that names the port, and another value for it. */
export type PortSetting = { name: string; example: string }

/** Another program uses the port. */
export class PortTaken extends Error {}

const explain = (error: number, where: string, port: number, { name, example }: PortSetting): Error =>
  error === addressInUse
    ? new PortTaken(
        `Port ${port} is taken on ${where}. Stop the program that uses it, or choose another port: ${name}=${example} script/server`,
      )
    : new Error(
        `Dock cannot listen on ${where}:${port} (${error === accessDenied ? 'EACCES' : `errno ${error}`}). Set DOCK_BIND and ${name} to an address of this machine.`,
      )

const open = (family: number, address: Buffer): { descriptor: number } | { error: number } => {
  const descriptor: number = socket(family, streamType, 0)
  if (descriptor < 0) return { error: koffi.errno() }
  const on = Buffer.from([1, 0, 0, 0])
  const isDone =
    setOption(descriptor, socketLevel, reuseAddress, on, on.length) === 0 &&
    bind(descriptor, address, address.length) === 0 &&
    listen(descriptor, backlog) === 0
  if (isDone) return { descriptor }
  const error = koffi.errno()
  closeSync(descriptor)
  return { error }
}

const internetAddress = (address: string, family: 4 | 6, port: number): Buffer => {
  const bytes = Buffer.alloc(16)
  const [text] = address.split('%')
  if (toBytes(family === 4 ? ipv4Family : ipv6Family, text, bytes) !== 1)
    throw new Error(`DOCK_BIND resolves to '${address}', which is not an IP address.`)
  const result = Buffer.alloc(family === 4 ? 16 : 28)
  result.writeUInt16LE(family === 4 ? ipv4Family : ipv6Family, 0)
  result.writeUInt16BE(port, 2)
  bytes.copy(result, family === 4 ? 4 : 8, 0, family === 4 ? 4 : 16)
  return result
}

/** Listens on a TCP port and returns the descriptor. Throws an error that says what to correct. */
export async function listenOnPort(
  where: string,
  port: number,
  setting: PortSetting = { name: 'PORT', example: '8081' },
): Promise<number> {
  const { address, family } = await lookup(where || '::')
  const kind = family === 6 ? 6 : 4
  const opened = open(kind === 6 ? ipv6Family : ipv4Family, internetAddress(address, kind, port))
  if ('error' in opened) throw explain(opened.error, where, port, setting)
  return opened.descriptor
}

/**
 * Listens on a Unix socket, in a folder of its own, that only root can connect to. Returns the descriptor. Throws if the
 * folder does not belong to root.
 */
export async function listenForRoot(path: string): Promise<number> {
  if (Buffer.byteLength(path) > pathBytesMax)
    throw new Error(`The path of a socket is longer than ${pathBytesMax} bytes: ${path}`)
  const folder = dirname(path)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const found = await lstat(folder)
  if (!found.isDirectory() || found.uid !== 0 || (found.mode & 0o077) !== 0)
    throw new Error(
      `${folder} must be a folder of mode 0700 that belongs to root. Remove it and start again.`,
    )
  await rm(path, { force: true })
  const address = Buffer.alloc(2 + Buffer.byteLength(path) + 1)
  address.writeUInt16LE(unixFamily, 0)
  address.write(path, 2)
  const opened = open(unixFamily, address)
  if ('error' in opened) throw new Error(`Dock cannot listen on ${path} (errno ${opened.error}).`)
  await chmod(path, 0o600)
  return opened.descriptor
}
