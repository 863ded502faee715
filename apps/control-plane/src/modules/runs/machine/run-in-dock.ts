/**
 * Runs a command in the Dock of a Run as a kept process: it outlives agent and control plane, and repeating it with the
 * same id joins the first one.
 */
import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import type { HostGateway, KeptPlace, KeptProcess } from '../../hosts/index.ts'

export type Machine = { hostId: string; dockId: string; generation: number }

export type InDock = {
  processId: string
  command: string
  env: Readonly<Record<string, string>>
  input?: Buffer
  timeoutMs: number
}

type KeptCalls = Pick<
  HostGateway,
  'startKept' | 'readKept' | 'waitForKept' | 'writeKeptInput' | 'closeKeptInput' | 'openKeptOutput'
>

/** Starts the process, and writes its input to the end. */
export async function startInDock(
  gateway: KeptCalls,
  { hostId, dockId, generation }: Machine,
  { processId, command, env, input, timeoutMs }: InDock,
): Promise<KeptPlace> {
  const place = { hostId, dockId, processId }
  const stdin = input !== undefined
  const started = await gateway.startKept(hostId, dockId, {
    ...{ processId, generation, command, env: { ...env }, stdin, timeoutMs },
  })
  if (!stdin || started.end !== null || !started.stdin.isOpen) return place
  const left = input.subarray(started.stdin.offset)
  try {
    if (left.length > 0) await gateway.writeKeptInput(place, started.stdin.offset, Readable.from([left]))
    await gateway.closeKeptInput(place)
  } catch (error) {
    // A program that ends without reading its input has closed it.
    if ((await gateway.readKept(place)).end === null) throw error
  }
  return place
}

/** Returns output of the process from an offset on, at most `bytesMax`, and where it goes on. */
export async function readInDock(
  gateway: KeptCalls,
  place: KeptPlace,
  offset: number,
  bytesMax: number,
): Promise<{ bytes: Buffer; start: number }> {
  const { start, body } = await gateway.openKeptOutput(place, 'stdout', { offset, follow: false })
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of body) {
    pieces.push(piece as Buffer)
    length += (piece as Buffer).length
    if (length >= bytesMax) break
  }
  return { bytes: Buffer.concat(pieces).subarray(0, bytesMax), start }
}

/** Runs the command to its end. `output` is the end of what it wrote. `keepWaiting` throws if nobody wants the end. */
export async function runInDock(
  gateway: KeptCalls,
  machine: Machine,
  request: InDock,
  keepWaiting: () => Promise<void>,
): Promise<{ end: NonNullable<KeptProcess['end']>; output: string }> {
  const place = await startInDock(gateway, machine, request)
  for (;;) {
    const { end, stdout } = await waitForOutput(gateway, place)
    if (end !== null) {
      const from = Math.max(stdout.first, stdout.end - outputBytesMax)
      const { bytes } = await readInDock(gateway, place, from, outputBytesMax)
      return { end, output: bytes.toString('utf8') }
    }
    await keepWaiting()
  }
}

/**
 * Waits at most a second or so for the end of a process and of its output. A daemon that the program left may keep the
 * output open, so its end is waited for only a short time.
 */
export async function waitForOutput(gateway: KeptCalls, place: KeptPlace): Promise<KeptProcess> {
  let known = await gateway.waitForKept(place, waitMs)
  for (let tries = 0; known.end !== null && known.stdout.isOpen && tries < drainTriesMax; tries++) {
    await setTimeout(drainPauseMs)
    known = await gateway.readKept(place)
  }
  return known
}

const waitMs = 1_000
const drainTriesMax = 20
const drainPauseMs = 50
const outputBytesMax = 16 * 1024
