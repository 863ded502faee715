/** System calls that Node lacks: anonymous pipes, sending descriptors over a Unix socket, thread scheduling. */
import { closeSync } from 'node:fs'
import koffi from 'koffi'

const libc = koffi.load(null)
const ioVector = koffi.struct({ base: 'void *', length: 'size_t' })
const message = koffi.struct({
  name: 'void *',
  nameLength: 'uint32_t',
  vectors: koffi.pointer(ioVector),
  vectorCount: 'size_t',
  control: 'void *',
  controlLength: 'size_t',
  flags: 'int',
})
const pipe2 = libc.func('int pipe2(_Out_ int *descriptors, int flags)')
const socket = libc.func('int socket(int family, int type, int protocol)')
const connect = libc.func('int connect(int descriptor, const void *address, uint32_t length)')
const fcntl = libc.func('int fcntl(int descriptor, int command, ...)')
const setScheduler = libc.func('int sched_setscheduler(int thread, int policy, const void *parameters)')
const sendmsg = libc.func('sendmsg', 'int64_t', ['int', koffi.pointer(message), 'int'])

const usualPolicy = 0
const batchPolicy = 3
const noPriority = Buffer.alloc(4)

const setPipeSize = 1031
const closeOnExec = 0o2000000
const nonBlocking = 0o4000
const unixFamily = 1
const streamType = 1
const socketLevel = 1
const passDescriptors = 1
const dontWait = 0x40
const noSignal = 0x4000
const tryAgain = 11
/** Size of `sun_path`. A path in a file system also needs a terminating NUL. */
const addressBytesMax = 108
const controlHeaderBytes = 16

const failure = (call: string): Error => new Error(`${call}: errno ${koffi.errno()}`)

/** Creates a pipe with close-on-exec. Throws if the process has no descriptors left. */
export function openPipe(): { readFd: number; writeFd: number } {
  const descriptors = [0, 0]
  if (pipe2(descriptors, closeOnExec) !== 0) throw failure('pipe2')
  return { readFd: descriptors[0]!, writeFd: descriptors[1]! }
}

/** Lets a pipe hold up to this many bytes. If the system refuses, the pipe stays as it is. */
export function setPipeCapacity(descriptor: number, bytes: number): void {
  fcntl(descriptor, setPipeSize, 'int', bytes)
}

/**
 * Connects a non-blocking stream socket. A path that begins with a NUL is an abstract address. Returns null if the
 * listener's backlog is full. Throws if there is no listener.
 */
export function connectUnixSocket(path: string): number | null {
  const name = Buffer.from(path)
  const isAbstract = name[0] === 0
  if (name.length + (isAbstract ? 0 : 1) > addressBytesMax) throw new Error(`socket path too long: ${path}`)
  const address = Buffer.alloc(2 + name.length + (isAbstract ? 0 : 1))
  address.writeUInt16LE(unixFamily, 0)
  name.copy(address, 2)
  const descriptor: number = socket(unixFamily, streamType | nonBlocking | closeOnExec, 0)
  if (descriptor < 0) throw failure('socket')
  if (connect(descriptor, address, address.length) === 0) return descriptor
  const isFull = koffi.errno() === tryAgain
  const error = failure(`connect ${path}`)
  closeSync(descriptor)
  if (isFull) return null
  throw error
}

/** Switches a thread to SCHED_BATCH or back to SCHED_OTHER. Errors are ignored, because the thread may have ended. */
export function setBatchPolicy(threadId: number, isBatch: boolean): void {
  setScheduler(threadId, isBatch ? batchPolicy : usualPolicy, noPriority)
}

/**
 * Sends bytes, with copies of `descriptors` attached to the first byte. Returns the number of bytes sent. If it is 0,
 * the socket buffer is full and nothing was sent; otherwise all descriptors were sent.
 */
export function sendDescriptors(socketFd: number, bytes: Buffer, descriptors: readonly number[]): number {
  const length = controlHeaderBytes + 4 * descriptors.length
  const control = Buffer.alloc((length + 7) & ~7)
  control.writeBigUInt64LE(BigInt(length), 0)
  control.writeInt32LE(socketLevel, 8)
  control.writeInt32LE(passDescriptors, 12)
  for (const [index, descriptor] of descriptors.entries()) {
    control.writeInt32LE(descriptor, controlHeaderBytes + 4 * index)
  }
  const header = {
    ...{ name: null, nameLength: 0, flags: 0 },
    ...{ vectors: [{ base: bytes, length: bytes.length }], vectorCount: 1 },
    ...{ control, controlLength: control.length },
  }
  const sent: number = sendmsg(socketFd, header, dontWait | noSignal)
  if (sent >= 0) return sent
  if (koffi.errno() === tryAgain) return 0
  throw failure('sendmsg')
}
