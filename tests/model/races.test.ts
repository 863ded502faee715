/**
 * Checks that concurrent creates with names and idempotency keys are linearizable: some sequential order of the calls
 * explains all responses. `DOCK_MODEL_RUNS` and `DOCK_MODEL_SEED` work as in dock-model.test.ts.
 */
import { newUuid } from '@dock/foundation'
import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createDock, listDocks } from '../../apps/control-plane/src/modules/docks/index.ts'
import { newSystem } from './support/memory-system.ts'
import { codeOf } from './support/system.ts'

const numRuns = Number(process.env.DOCK_MODEL_RUNS ?? '25')
const seed = Number(process.env.DOCK_MODEL_SEED ?? '1')
const minuteMs = 60_000

let database: FreshDatabase
beforeAll(async () => {
  database = await createFreshDatabase()
})
afterAll(() => database.drop())

type Call = { name: string | null; key: string | null }
type Answer = { code: string; id: string | undefined }
type Seen = { call: Call; answer: Answer }

/** The state after some sequential calls. Ids of new Docks are taken from the responses. */
type Sequential = { names: ReadonlySet<string>; keys: ReadonlyMap<string, { call: Call; id: string }> }

/** Returns the state after the call, or null if the response is impossible in this state. */
const next = (state: Sequential, { call, answer }: Seen, others: readonly Seen[]): Sequential | null => {
  const { name, key } = call
  if (answer.code === 'idempotency_in_progress')
    return others.some((other) => other.call.key === key && other.call.name === name) ? state : null
  const used = key === null ? undefined : state.keys.get(key)
  if (used && used.call.name !== name) return answer.code === 'idempotency_key_reused' ? state : null
  if (used) return answer.code === 'done' && answer.id === used.id ? state : null
  if (name !== null && state.names.has(name)) return answer.code === 'dock_name_taken' ? state : null
  if (answer.code !== 'done' || answer.id === undefined) return null
  return {
    names: name === null ? state.names : new Set([...state.names, name]),
    keys: key === null ? state.keys : new Map([...state.keys, [key, { call, id: answer.id }]]),
  }
}

const canBeOrdered = (state: Sequential, left: readonly Seen[], all: readonly Seen[]): boolean =>
  left.length === 0 ||
  left.some((seen) => {
    const after = next(
      state,
      seen,
      all.filter((other) => other !== seen),
    )
    return (
      after !== null &&
      canBeOrdered(
        after,
        left.filter((other) => other !== seen),
        all,
      )
    )
  })

it('concurrent creates can always be explained by a sequential order', {
  timeout: numRuns * minuteMs,
}, async () => {
  const call = fc.record({
    name: fc.option(fc.constantFrom('ada', 'bob'), { freq: 3 }),
    key: fc.option(fc.constantFrom('k', 'l'), { freq: 3 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 2, maxLength: 6 }), async (calls) => {
      const { world, modules, caller } = await newSystem(database.db)
      const other = world.another()
      const ask = async ({ name, key }: Call, index: number): Promise<Answer> => {
        let id: string | undefined
        const { context } = index % 2 === 0 ? modules : other
        const body = world.body(name === null ? {} : { name })
        const code = await codeOf(
          createDock(context, caller, body, key ?? undefined).then((dock) => {
            id = dock.id
          }),
        )
        return { code, id }
      }
      const answers = await Promise.all(calls.map(ask))
      const seen = calls.map((each, index) => ({ call: each, answer: answers[index]! }))
      const fresh = { names: new Set<string>(), keys: new Map() }
      expect({ seen, ordered: canBeOrdered(fresh, seen, seen) }).toMatchObject({ ordered: true })
      const docks = (
        await Array.fromAsync(listDocks(modules.context, caller, { filter: 'r', all: true }))
      ).flat()
      expect(new Set(docks.map((dock) => dock.id))).toEqual(
        new Set(answers.flatMap(({ id }) => (id === undefined ? [] : [id]))),
      )
    }),
    { numRuns, seed },
  )
})

it('the check detects responses that no order explains', () => {
  const id = newUuid()
  const twice = (a: Answer, b: Answer): Seen[] => [
    { call: { name: 'ada', key: null }, answer: a },
    { call: { name: 'ada', key: null }, answer: b },
  ]
  const empty = { names: new Set<string>(), keys: new Map() }
  const check = (seen: Seen[]): boolean => canBeOrdered(empty, seen, seen)
  expect(check(twice({ code: 'done', id }, { code: 'dock_name_taken', id: undefined }))).toBe(true)
  expect(check(twice({ code: 'done', id }, { code: 'done', id: newUuid() }))).toBe(false)
  expect(
    check(twice({ code: 'dock_name_taken', id: undefined }, { code: 'dock_name_taken', id: undefined })),
  ).toBe(false)
})
