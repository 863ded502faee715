/** What a guest says, read with suspicion: each length, count, number and string is checked. */
import { GuestViolation } from './link-errors.ts'
import { processFlags, type RefusalReason, refusals, sizes, states } from './protocol.ts'

/** No Linux for 64 bits has higher ones. */
const pidMax = 4_194_304
const signalMax = 64
const pageMax = 65_536

export type GuestEnd = {
  /** Null if a signal ended the program. */
  exitCode: number | null
  /** Number of the signal. */
  signal: number | null
  /** Names of its processes that were killed because memory ran out. */
  killedForMemory: string[]
}
export type GuestProcess = {
  pid: number
  parentPid: number
  uid: number
  name: string
  isPlatform: boolean
}
/** A program that the guest knows, running or ended. */
export type GuestProgramState = { id: number; pid: number; isTerminal: boolean; hasEnded: boolean }
export type GuestUsage = {
  memoryBytes: number
  memoryBytesAvailable: number
  diskBytes: number
  diskBytesFree: number
  filesUsed: number
}

/** A position in an output or an input. Throws {@link GuestViolation}. */
export function readPosition(bytes: Buffer, at: number): number {
  const position = Number(bytes.readBigUInt64LE(at))
  if (!Number.isSafeInteger(position)) throw new GuestViolation('a number is too large')
  return position
}

/** Returns the text with a question mark for each character that a log or a terminal would not show as itself. */
export function plainText(bytes: Buffer): string {
  return bytes.toString('utf8').replaceAll(/[\p{C}\p{Zl}\p{Zp}�]/gu, '?')
}

export function expectLength(payload: Buffer, least: number, most = least): void {
  if (payload.length < least || payload.length > most) throw new GuestViolation('a frame has a wrong length')
}

/** `least` is 0 where there need not be a process. */
export function readPid(payload: Buffer, at: number, least = 1): number {
  const pid = payload.readUInt32LE(at)
  if (pid < least || pid > pidMax) throw new GuestViolation('no number of a process')
  return pid
}

export function readRefusal(payload: Buffer): { reason: RefusalReason; text: string } {
  expectLength(payload, 1, sizes.textMax)
  const reason = Object.entries(refusals).find(([, code]) => code === payload[0])?.[0]
  if (!reason) throw new GuestViolation('an unknown refusal')
  return { reason: reason as RefusalReason, text: plainText(payload.subarray(1)) }
}

export function readEnd(payload: Buffer): GuestEnd {
  expectLength(payload, 4, 4 + sizes.killedNamesMax * (sizes.nameMax + 1))
  const [isSignal = 0, value = 0, count = 0, reserved] = payload
  if (isSignal > 1 || reserved !== 0 || (isSignal && (value < 1 || value > signalMax)))
    throw new GuestViolation('an unknown end of a program')
  const names = payload.subarray(4)
  const killedForMemory: string[] = []
  for (let at = 0; at < names.length; ) {
    const end = names.indexOf(0, at)
    if (end < 0 || end - at > sizes.nameMax) throw new GuestViolation('a name is too long')
    killedForMemory.push(plainText(names.subarray(at, end)))
    at = end + 1
  }
  if (killedForMemory.length !== count) throw new GuestViolation('a wrong number of names')
  return isSignal
    ? { exitCode: null, signal: value, killedForMemory }
    : { exitCode: value, signal: null, killedForMemory }
}

const processHead = 14

/** Reads a page of the list of processes, which must go on after `after`. */
export function readProcesses(payload: Buffer, after: number): GuestProcess[] {
  const found: GuestProcess[] = []
  let last = after
  for (let at = 0; at < payload.length; ) {
    if (payload.length - at < processHead) throw new GuestViolation('half a process')
    const pid = readPid(payload, at)
    const parentPid = readPid(payload, at + 4, 0)
    const uid = payload.readUInt32LE(at + 8)
    const [flags = 0, length = 0] = payload.subarray(at + 12, at + processHead)
    at += processHead
    if (pid <= last || length > sizes.nameMax || payload.length - at < length)
      throw new GuestViolation('no list of processes')
    const name = plainText(payload.subarray(at, at + length))
    found.push({ pid, parentPid, uid, name, isPlatform: (flags & processFlags.platform) !== 0 })
    last = pid
    at += length
  }
  return found
}

const programBytes = 12

/** Reads a page of the list of programs, which must go on after `after`. */
export function readPrograms(payload: Buffer, after: number): GuestProgramState[] {
  if (payload.length % programBytes || payload.length > pageMax)
    throw new GuestViolation('no list of programs')
  const found: GuestProgramState[] = []
  let last = after
  for (let at = 0; at < payload.length; at += programBytes) {
    const id = payload.readUInt32LE(at)
    if (id <= last) throw new GuestViolation('no list of programs')
    const state = payload.readUInt32LE(at + 8)
    const isTerminal = (state & states.terminal) !== 0
    found.push({ id, pid: readPid(payload, at + 4), isTerminal, hasEnded: (state & states.ended) !== 0 })
    last = id
  }
  return found
}

export function readUsage(payload: Buffer): GuestUsage {
  expectLength(payload, 40)
  const [memoryBytes = 0, memoryBytesAvailable = 0, diskBytes = 0, diskBytesFree = 0, filesUsed = 0] = [
    0, 8, 16, 24, 32,
  ].map((at) => readPosition(payload, at))
  return { memoryBytes, memoryBytesAvailable, diskBytes, diskBytesFree, filesUsed }
}
