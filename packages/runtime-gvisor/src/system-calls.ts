/** System calls that Node lacks: pipes without a name, descriptors sent over a Unix socket, how a thread is scheduled. */
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
const setScheduler = libc.func('int sched_setscheduler(int thread, int policy, const void *parameters)')
const sendmsg = libc.func('sendmsg', 'int64_t', ['int', koffi.pointer(message), 'int'])

const usualPolicy = 0
const batchPolicy = 3
const noPriority = Buffer.alloc(4)

const closeOnExec = 0o2000000
const nonBlocking = 0o4000
const unixFamily = 1
const streamType = 1
const socketLevel = 1
const passDescriptors = 1
const dontWait = 0x40
const noSignal = 0x4000
const tryAgain = 11
/** Bytes of `sun_path`; a name in a file system needs one more for its end. */
const addressBytesMax = 108
const controlHeaderBytes = 16

const failure = (call: string): Error => new Error(`${call}: errno ${koffi.errno()}`)

/** A pipe's two ends, closed on exec. Throws when the process has no descriptors left. */
export function openPipe(): { readFd: number; writeFd: number } {
  const descriptors = [0, 0]
  if (pipe2(descriptors, closeOnExec) !== 0) throw failure('pipe2')
  return { readFd: descriptors[0]!, writeFd: descriptors[1]! }
}

/**
 * A connected, non-blocking stream socket. A path that begins with a NUL is one of the abstract kind. Throws at once
 * when nobody listens there, or too many wait already.
 */
export function connectUnixSocket(path: string): number {
  const name = Buffer.from(path)
  const isAbstract = name[0] === 0
  if (name.length + (isAbstract ? 0 : 1) > addressBytesMax) throw new Error(`socket path too long: ${path}`)
  const address = Buffer.alloc(2 + name.length + (isAbstract ? 0 : 1))
  address.writeUInt16LE(unixFamily, 0)
  name.copy(address, 2)
  const descriptor: number = socket(unixFamily, streamType | nonBlocking | closeOnExec, 0)
  if (descriptor < 0) throw failure('socket')
  if (connect(descriptor, address, address.length) === 0) return descriptor
  const error = failure(`connect ${path}`)
  closeSync(descriptor)
  throw error
}

/** Whether a thread that wakes waits until another leaves the processor, from now on. One that ended meanwhile is left out. */
export function setPatience(threadId: number, isPatient: boolean): void {
  setScheduler(threadId, isPatient ? batchPolicy : usualPolicy, noPriority)
}

/**
 * Sends bytes with copies of `descriptors` riding on the first of them. Answers how many bytes went: all of the
 * descriptors are sent when it is more than none, and nothing at all when it is 0, because the socket is full.
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
