/**
 * Several people run random operations while processes are killed at random. Acknowledged changes must be kept, no Dock
 * may be lost, a call with an idempotency key must take effect once, and at the end machine and database must agree.
 * The seed determines the operations, not their timing.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Dock } from '@dock/contract'
import { DockApiError } from '@dock/sdk'
import { deleteDock, run } from '../e2e/support/dock.ts'
import { type CrashWorld, cleanUp, settle } from './crash-case.ts'
import { processOf, type Victim, victims } from './processes.ts'

/** Which programs are killed, by default any of them, and how often at most. */
export type SoakKills = { victims?: readonly Victim[]; killsMax?: number }

export type SoakResult = {
  operations: number
  /** How often a call failed with each code. */
  refused: Map<string, number>
  kills: number
  problems: string[]
}

type Random = () => number

/** Mulberry32, a pseudorandom generator with a seed. */
const createRandom = (seed: number): Random => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)]!

const timeoutMs = 90_000
const settledStates = ['ready', 'idle', 'running', 'archived', 'error']

/** Returns the Dock once no operation runs on it, or null if it was deleted. Retries while the server is down. */
const settled = async ({ client }: CrashWorld, id: string): Promise<Dock | null> => {
  const deadline = Date.now() + timeoutMs
  let last: unknown
  while (Date.now() < deadline) {
    try {
      const dock = await client.call('readDock', { params: { id } })
      if (settledStates.includes(dock.state)) return dock
      last = dock.state
    } catch (error) {
      if (error instanceof DockApiError && error.code === 'dock_not_found') return null
      last = error
    }
    await delay(200)
  }
  throw new Error(`Dock ${id} did not settle: ${last instanceof Error ? last.message : String(last)}`)
}

const file = '/home/user/work/soak'
/** Each command with an idempotency key appends its mark as a line. */
const marksFile = '/home/user/work/marks'

const codeOf = (error: unknown): string => (error instanceof DockApiError ? error.code : 'no response')

/** Failures after which a call may or may not have run, so it is repeated with the same idempotency key. */
const retryableCodes = [
  'no response',
  'exec_busy',
  'exec_failed',
  'idempotency_in_progress',
  'internal_error',
  'service_unavailable',
]

/** Repeats a call with an idempotency key until it succeeds. Returns null after an error that is not retryable. */
const retry = async <T>(call: () => Promise<T>, count: (error: unknown) => void): Promise<T | null> => {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    try {
      return await call()
    } catch (error) {
      count(error)
      if (!retryableCodes.includes(codeOf(error)) || Date.now() > deadline) return null
      await delay(300)
    }
  }
}

/** One person's work until the end of the soak. */
const work = async (world: CrashWorld, random: Random, until: number, result: SoakResult): Promise<void> => {
  let id: string | null = null
  /** The file's content. Null if the response to a write was lost, so that the write may or may not have happened. */
  let content: string | null = ''
  let deleting = false
  /** For each command with an idempotency key: true if it was acknowledged. */
  let marks = new Map<string, boolean>()
  const params = () => ({ id: id! })
  const unique = (): string => String(Math.floor(random() * 1e12))
  const count = (error: unknown): void => {
    const code = codeOf(error)
    result.refused.set(code, (result.refused.get(code) ?? 0) + 1)
    // An internal error is always a bug.
    if (code === 'internal_error') result.problems.push(String(error))
  }

  const check = async (): Promise<void> => {
    const found = await run(world, id!, `cat ${file} 2>/dev/null || true`)
    if (content !== null && found !== content)
      result.problems.push(`Dock ${id} contains '${found}' instead of '${content}'`)
    content = found
    const lines = (await run(world, id!, `cat ${marksFile} 2>/dev/null || true`)).split('\n')
    for (const [mark, answered] of marks) {
      const times = lines.filter((line) => line === mark).length
      if (times > 1 || (answered && times === 0))
        result.problems.push(`Dock ${id} ran the command ${mark} ${times} times`)
    }
  }
  const create = async (): Promise<void> => {
    const name = `soak-${unique()}`
    const headers = { 'idempotency-key': name }
    const body = { workspaceId: world.admin.workspaceId, name, cpus: 1, memoryMiB: 1024, diskGiB: 2 }
    const dock = await retry(() => world.client.call('createDock', { body, headers }), count)
    if (dock?.state === 'ready') id = dock.id
  }
  const append = async (): Promise<void> => {
    const mark = unique()
    marks.set(mark, false)
    const headers = { 'idempotency-key': mark }
    const body = { command: `echo ${mark} >> ${marksFile}` }
    const answer = await retry(
      () => world.client.call('execInDock', { params: params(), body, headers }),
      count,
    )
    if (answer?.exitCode === 0) marks.set(mark, true)
  }
  const write = async (): Promise<void> => {
    const next = `${Math.floor(random() * 1e9)}\n`
    content = null
    await run(world, id!, `printf '%s' '${next}' > ${file}`)
    content = next
  }
  const acts: Record<string, () => Promise<unknown>> = {
    check,
    write,
    append,
    stop: () => world.client.call('stopDock', { params: params(), body: {} }),
    resume: () => world.client.call('resumeDock', { params: params(), body: {} }),
    branch: async () => {
      const expected = content
      const copy = await world.client.call('branchDock', { params: params(), body: {} })
      const found = await run(world, copy.id, `cat ${file} 2>/dev/null || true`)
      if (expected !== null && found !== expected)
        result.problems.push(`branch ${copy.id} contains '${found}' instead of '${expected}'`)
      await deleteDock(world, copy.id)
    },
    delete: () => {
      deleting = true
      return deleteDock(world, id!)
    },
  }
  const possible = (dock: Dock): string[] => {
    if (dock.state === 'archived') return ['resume', 'resume', 'branch', 'delete']
    if (dock.state === 'error') return ['delete']
    return ['check', 'check', 'write', 'write', 'append', 'append', 'stop', 'branch', 'delete']
  }
  while (Date.now() < until) {
    const dock: Dock | null = id === null ? null : await settled(world, id)
    if (id !== null && !deleting && (!dock || dock.state === 'error'))
      result.problems.push(`Dock ${id} was lost: it is ${dock?.state ?? 'gone'}`)
    if (!dock) {
      id = null
      content = ''
      deleting = false
      marks = new Map()
    }
    result.operations += 1
    try {
      if (dock) await acts[pick(random, possible(dock))]!()
      else await create()
    } catch (error) {
      // The server may be down or restarting, so the call may or may not have taken effect.
      count(error)
      await delay(300)
    }
  }
}

/** Kills random processes repeatedly, with time to restart in between. */
const killing = async (
  world: CrashWorld,
  random: Random,
  until: number,
  result: SoakResult,
  { victims: of = victims, killsMax = Number.POSITIVE_INFINITY }: SoakKills,
): Promise<void> => {
  while (Date.now() < until && result.kills < killsMax) {
    await delay(4_000 + random() * 8_000)
    const pid = await processOf(pick(random, of), world)
    if (pid === null) continue
    process.kill(pid, 'SIGKILL')
    result.kills += 1
  }
}

/** Runs the soak for `durationMs`, waits until the server has settled, and checks everything once more. */
export async function soak(
  world: CrashWorld,
  options: SoakKills & { seed: number; durationMs: number; people: number },
): Promise<SoakResult> {
  const result: SoakResult = { operations: 0, refused: new Map(), kills: 0, problems: [] }
  const until = Date.now() + options.durationMs
  const randomOf = (index: number) => createRandom(options.seed * 1000 + index)
  const people = Array.from({ length: options.people }, (_, index) =>
    work(world, randomOf(index + 1), until, result).catch((error: unknown) => {
      result.problems.push(error instanceof Error ? error.message : String(error))
    }),
  )
  await Promise.all([...people, killing(world, randomOf(0), until, result, options)])
  result.problems.push(...(await settle(world, until)))
  result.problems.push(...(await cleanUp(world)))
  return result
}
