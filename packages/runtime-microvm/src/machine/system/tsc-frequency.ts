/**
 * Measures the processor's time stamp counter. An emulated machine has no other clock by which its kernel could do that, and
 * cannot boot without the figure. Under KVM it is not needed.
 */
import { setTimeout as delay } from 'node:timers/promises'
import koffi from 'koffi'

const libc = koffi.load(null)
const mmap = libc.func(
  'void *mmap(void *address, size_t length, int protection, int flags, int descriptor, int64_t offset)',
)

/** rdtsc; shl $32, %rdx; or %rdx, %rax; ret */
const machineCode = [0x0f, 0x31, 0x48, 0xc1, 0xe2, 0x20, 0x48, 0x09, 0xd0, 0xc3]
const pageBytes = 4096
const readWriteExecute = 7
const privateAnonymous = 0x22
const spanMs = 50

const makeReader = (): (() => bigint) => {
  const page = mmap(null, pageBytes, readWriteExecute, privateAnonymous, -1, 0)
  koffi.encode(page, koffi.array('uint8_t', machineCode.length), machineCode)
  const type = koffi.proto('uint64_t', [])
  return () => BigInt(koffi.call(page, type))
}

let measured: Promise<number> | undefined

/** Returns the frequency in kHz. Measures it once in the life of the process. */
export function tscKhz(): Promise<number> {
  measured ??= measure()
  return measured
}

const measure = async (): Promise<number> => {
  const readCounter = makeReader()
  // The first calls are slow, because koffi prepares them.
  readCounter()
  const sample = () => ({ counter: readCounter(), at: process.hrtime.bigint() })
  sample()
  const before = sample()
  await delay(spanMs)
  const after = sample()
  return Number(((after.counter - before.counter) * 1_000_000n) / (after.at - before.at))
}
