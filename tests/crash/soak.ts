/**
 * Random operations by several people at once while processes are killed at random: whatever was answered must hold,
 * and at the end the machine and the database must agree. The seed decides the operations, not their timing.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Dock } from '@dock/contract'
import { DockApiError } from '@dock/sdk'
import { createDock, deleteDock, run } from '../e2e/support/dock.ts'
import { type CrashWorld, cleanUp, settle } from './crash-case.ts'
import { processOf, victims } from './processes.ts'

export type SoakResult = { operations: number; refused: number; kills: number; problems: string[] }

type Random = () => number

/** Mulberry32: the same numbers for the same seed. */
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

const patienceMs = 90_000
const settledStates = ['ready', 'idle', 'running', 'archived', 'error']

/** The Dock once nothing is under way on it; null when it is gone. Errors of a server that is down are waited out. */
const settled = async ({ client }: CrashWorld, id: string): Promise<Dock | null> => {
  const deadline = Date.now() + patienceMs
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

/** One person's work until the time is over. */
const work = async (world: CrashWorld, random: Random, until: number, result: SoakResult): Promise<void> => {
  let id: string | null = null
  /** What was answered as written; null when an answer was lost and either of two may be there. */
  let content: string | null = ''
  const params = () => ({ id: id! })

  const check = async (): Promise<void> => {
    const found = await run(world, id!, `cat ${file} 2>/dev/null || true`)
    if (content !== null && found !== content)
      result.problems.push(`Dock ${id} holds '${found}' instead of '${content}'`)
    content = found
  }
  const write = async (): Promise<void> => {
    const next = `${Math.floor(random() * 1e9)}\n`
    content = null
    await run(world, id!, `printf '%s' '${next}' > ${file}`)
    content = next
  }
  const acts: Record<string, (dock: Dock) => Promise<unknown>> = {
    check,
    write,
    stop: () => world.client.call('stopDock', { params: params(), body: {} }),
    resume: () => world.client.call('resumeDock', { params: params(), body: {} }),
    branch: async () => {
      const expected = content
      const copy = await world.client.call('branchDock', { params: params(), body: {} })
      const found = await run(world, copy.id, `cat ${file} 2>/dev/null || true`)
      if (expected !== null && found !== expected)
        result.problems.push(`branch ${copy.id} holds '${found}' instead of '${expected}'`)
      await deleteDock(world, copy.id)
    },
    delete: () => deleteDock(world, id!),
  }
  const possible = (dock: Dock): string[] => {
    if (dock.state === 'archived') return ['resume', 'resume', 'branch', 'delete']
    if (dock.state === 'error') return ['delete']
    return ['check', 'check', 'write', 'write', 'stop', 'branch', 'delete']
  }
  while (Date.now() < until) {
    const dock: Dock | null = id === null ? null : await settled(world, id)
    if (!dock) {
      id = null
      content = ''
    }
    result.operations += 1
    try {
      if (dock) await acts[pick(random, possible(dock))]!(dock)
      else id = (await createDock(world)).id
    } catch (error) {
      // Down, or on the way: the answer is lost, not the promise. An answer that nobody could foresee is a problem.
      result.refused += 1
      if (error instanceof DockApiError && error.code === 'internal_error')
        result.problems.push(error.message)
      await delay(300)
    }
  }
}

/** Kills a process again and again, with time between to come up. */
const killing = async (
  world: CrashWorld,
  random: Random,
  until: number,
  result: SoakResult,
): Promise<void> => {
  while (Date.now() < until) {
    await delay(4_000 + random() * 8_000)
    const pid = await processOf(pick(random, victims), world)
    if (pid === null) continue
    process.kill(pid, 'SIGKILL')
    result.kills += 1
  }
}

/** Runs for the time, lets the server settle, and looks at everything once more. */
export const soak = async (
  world: CrashWorld,
  options: { seed: number; durationMs: number; people: number },
): Promise<SoakResult> => {
  const result: SoakResult = { operations: 0, refused: 0, kills: 0, problems: [] }
  const until = Date.now() + options.durationMs
  const randomOf = (index: number) => createRandom(options.seed * 1000 + index)
  const people = Array.from({ length: options.people }, (_, index) =>
    work(world, randomOf(index + 1), until, result).catch((error: unknown) => {
      result.problems.push(error instanceof Error ? error.message : String(error))
    }),
  )
  await Promise.all([...people, killing(world, randomOf(0), until, result)])
  result.problems.push(...(await settle(world, until)))
  result.problems.push(...(await cleanUp(world)))
  return result
}
