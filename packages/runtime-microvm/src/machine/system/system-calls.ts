/** System calls that Node lacks: listening sockets that a child inherits, taps, and the device filter of control groups. */
import { closeSync, constants, openSync } from 'node:fs'
import koffi from 'koffi'

const libc = koffi.load(null)
const socket = libc.func('int socket(int family, int type, int protocol)')
const bind = libc.func('int bind(int descriptor, const void *address, uint32_t length)')
const listen = libc.func('int listen(int descriptor, int backlog)')
const setns = libc.func('int setns(int descriptor, int type)')
const unshare = libc.func('int unshare(int flags)')
const ioctl = libc.func('int ioctl(int descriptor, unsigned long request, void *argument)')
const syscall = libc.func('int64_t syscall(int64_t number, ...)')

const unixFamily = 1
const streamType = 1
const closeOnExec = 0o2000000
/** Size of `sun_path`, with its terminating NUL. */
const socketPathBytesMax = 108
const backlog = 4

const networkNamespace = 0x4000_0000
const setInterface = 0x4004_54ca
const tapFlags = 0x0002 | 0x1000 | 0x4000 // IFF_TAP, IFF_NO_PI, IFF_VNET_HDR
const interfaceRequestBytes = 40
const interfaceNameBytesMax = 15

const bpfNumber = 321 // on x86-64
const bpf = { load: 5, attach: 8, deviceProgram: 15, deviceAttach: 6, attributeBytes: 128 } as const

const failure = (call: string): Error => new Error(`${call}: errno ${koffi.errno()}`)

/** Binds a Unix socket at the path, which must not exist, and listens. Returns its descriptor. */
export function listenOnUnixSocket(path: string): number {
  const name = Buffer.from(`${path}\0`)
  if (name.length > socketPathBytesMax) throw new Error(`socket path too long: ${path}`)
  const address = Buffer.concat([Buffer.from([unixFamily, 0]), name])
  const descriptor: number = socket(unixFamily, streamType | closeOnExec, 0)
  if (descriptor < 0) throw failure('socket')
  if (bind(descriptor, address, address.length) === 0 && listen(descriptor, backlog) === 0) return descriptor
  const error = failure(`listen on ${path}`)
  closeSync(descriptor)
  throw error
}

/**
 * Creates a tap in the network namespace, or in a new one without anything else if the path is null. Returns its descriptor.
 * The tap lives as long as a process holds the descriptor. This thread changes its namespace meanwhile, so nothing here waits.
 */
export function openTap(netnsPath: string | null, name: string): number {
  if (Buffer.byteLength(name) > interfaceNameBytesMax) throw new Error(`not a name of an interface: ${name}`)
  const own = openSync('/proc/thread-self/ns/net', constants.O_RDONLY)
  let other: number | undefined
  let hasLeft = false
  try {
    if (netnsPath !== null) other = openSync(netnsPath, constants.O_RDONLY)
    const left = other === undefined ? unshare(networkNamespace) : setns(other, networkNamespace)
    if (left !== 0) throw failure('enter the network namespace')
    hasLeft = true
    return createTap(name)
  } finally {
    // In the wrong network this process would open everybody's sockets.
    if (hasLeft && setns(own, networkNamespace) !== 0) process.abort()
    if (other !== undefined) closeSync(other)
    closeSync(own)
  }
}

const createTap = (name: string): number => {
  const descriptor = openSync('/dev/net/tun', constants.O_RDWR | constants.O_NONBLOCK)
  const request = Buffer.alloc(interfaceRequestBytes)
  request.write(name)
  request.writeUInt16LE(tapFlags, interfaceNameBytesMax + 1)
  if (ioctl(descriptor, setInterface, request) === 0) return descriptor
  const error = failure(`create tap ${name}`)
  closeSync(descriptor)
  throw error
}

/** Forbids the processes of a version 2 control group to open any device. */
export function forbidDevices(groupFolder: string): void {
  // r0 = 0; exit
  const program = Buffer.from([0xb7, 0, 0, 0, 0, 0, 0, 0, 0x95, 0, 0, 0, 0, 0, 0, 0])
  const license = Buffer.from('GPL\0')
  const load = Buffer.alloc(bpf.attributeBytes)
  load.writeUInt32LE(bpf.deviceProgram, 0)
  load.writeUInt32LE(program.length / 8, 4)
  load.writeBigUInt64LE(koffi.address(program), 8)
  load.writeBigUInt64LE(koffi.address(license), 16)
  const loaded = Number(syscall(bpfNumber, 'int', bpf.load, 'void *', load, 'unsigned int', load.length))
  if (loaded < 0) throw failure('load the device filter')
  const group = openSync(groupFolder, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    const attach = Buffer.alloc(bpf.attributeBytes)
    attach.writeUInt32LE(group, 0)
    attach.writeUInt32LE(loaded, 4)
    attach.writeUInt32LE(bpf.deviceAttach, 8)
    if (Number(syscall(bpfNumber, 'int', bpf.attach, 'void *', attach, 'unsigned int', attach.length)) !== 0)
      throw failure(`attach the device filter to ${groupFolder}`)
  } finally {
    closeSync(group)
    closeSync(loaded)
  }
}
