/** Commands that create Docks: create and branch, with few names and keys, so that they often collide. */
import fc from 'fast-check'
import { sql } from 'kysely'
import { answered, type Command, command, failNext, seldom } from './command.ts'
import { addDock, isReady, type Model, pick } from './model.ts'
import { codeOf, type Failure, type System } from './system.ts'

const names = ['ada', 'bob', 'cy'] as const
const keys = ['k1', 'k2'] as const

/** Reads the Docks that the model does not know yet. */
const readNewDocks = async ({ db }: System, model: Model): Promise<{ id: string; name: string }[]> => {
  const { rows } = await sql<{ id: string; name: string }>`select id, name from docks`.execute(db)
  return rows.filter((row) => !model.docks.some((dock) => dock.id === row.id))
}

/** Returns the expected result for an idempotency key that was used before, or undefined if it is unused. */
const replayOf = (model: Model, key: string | null, fingerprint: string): string | undefined => {
  const used = key === null ? undefined : model.keys.get(key)
  if (!used) return undefined
  if (used.fingerprint !== fingerprint) return 'idempotency_key_reused'
  return model.docks.some((dock) => dock.id === used.dockId) ? 'done' : 'dock_not_found'
}

/** Adds the Dock that the system has created to the model, and its idempotency key. */
const adopt = async (
  model: Model,
  system: System,
  made: { key: string | null; fingerprint: string; ttlSeconds: number | null; fails: boolean },
): Promise<void> => {
  const [born, ...others] = await readNewDocks(system, model)
  answered('born', [born === undefined, others.length], [false, 0])
  addDock(model, { ...born!, ttlSeconds: made.ttlSeconds }, made.fails)
  if (made.key !== null)
    model.keys.set(made.key, { fingerprint: made.fingerprint, dockId: born!.id, at: model.now })
}

type Create = { name: string | null; key: string | null; ttlSeconds: number | null; failure: Failure }

const create = (body: Create): Command => {
  const { name, key, ttlSeconds, failure } = body
  const title = `create ${JSON.stringify(body)}`
  return command({
    name: title,
    run: async (model, system) => {
      failNext(system, 'start', failure)
      const code = await codeOf(system.calls.create({ name, ttlSeconds }, key))
      const fingerprint = `create ${name} ${ttlSeconds}`
      const replayed = replayOf(model, key, fingerprint)
      if (replayed !== undefined) return answered(title, code, replayed)
      if (!model.online) return answered(title, code, 'no_host_capacity')
      if (model.docks.some((dock) => dock.name === name)) return answered(title, code, 'dock_name_taken')
      const fails = failure !== null
      answered(title, code, fails ? 'service_unavailable' : 'done')
      await adopt(model, system, { key, fingerprint, ttlSeconds, fails })
    },
  })
}

type Branch = { index: number; key: string | null; failure: Failure; step: 'capture' | 'start' }

const branch = (body: Branch): Command => {
  const { index, key, failure, step } = body
  const title = `branch ${JSON.stringify(body)}`
  return command({
    name: title,
    check: (model) => model.docks.length > 0,
    run: async (model, system) => {
      const source = pick(model, index)!
      const live = isReady(source)
      failNext(system, step, failure)
      const code = await codeOf(system.calls.branch(source.id, key))
      const fingerprint = `branch ${source.id}`
      const replayed = replayOf(model, key, fingerprint)
      if (replayed !== undefined) return answered(title, code, replayed)
      const hasSource = live || (source.state === 'archived' && source.snapshots > 0)
      if (!hasSource) return answered(title, code, 'conflict')
      if (!model.online) return answered(title, code, 'no_host_capacity')
      const fails = failure !== null && (step === 'start' || live)
      answered(title, code, fails ? 'service_unavailable' : 'done')
      if (live && !(fails && step === 'capture'))
        Object.assign(source, { snapshots: source.snapshots + 1, billingPaused: false })
      await adopt(model, system, { key, fingerprint, ttlSeconds: null, fails })
    },
  })
}

const index = fc.nat({ max: 5 })
const key = seldom(...keys)

/** Returns the commands, with arbitrary failures and TTLs. */
export function births(
  failure: fc.Arbitrary<Failure>,
  ttlSeconds: fc.Arbitrary<number | null>,
): fc.Arbitrary<Command>[] {
  return [
    fc.record({ name: seldom(...names), key, ttlSeconds, failure }).map(create),
    fc
      .record({ index, key, failure, step: fc.constantFrom('capture' as const, 'start' as const) })
      .map(branch),
  ]
}
