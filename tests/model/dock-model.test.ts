/**
 * Compares the state machine of Docks with a model: random steps of callers, hosts and processes, in virtual time, each
 * followed by a comparison. `DOCK_MODEL_RUNS` sets the number of runs, `DOCK_MODEL_SEED` the seed.
 * `DOCK_MODEL_SHRINK=off` stops at the first failure without shrinking it.
 */
import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import fc from 'fast-check'
import { afterAll, beforeAll, it } from 'vitest'
import { births } from './support/births.ts'
import { seldom } from './support/command.ts'
import { type ExecFailure, lives } from './support/lives.ts'
import { newSystem } from './support/memory-system.ts'
import { newModel } from './support/model.ts'
import type { Failure } from './support/system.ts'
import { worldEvents } from './support/world-events.ts'

const numRuns = Number(process.env.DOCK_MODEL_RUNS ?? '25')
const seed = Number(process.env.DOCK_MODEL_SEED ?? '1')
const minuteMs = 60_000

let database: FreshDatabase
beforeAll(async () => {
  database = await createFreshDatabase()
})
afterAll(() => database.drop())

it('is what the model says, after every step', { timeout: numRuns * minuteMs }, async () => {
  const failure = seldom<Failure>('failed', 'lost', 'lost-after')
  const born = births(failure, seldom(60, 600))
  const lived = lives(
    failure,
    seldom<ExecFailure>('failed', 'lost-after', 'busy'),
    fc.constantFrom(null, 60, 600, 3600),
  )
  const steps = fc.commands([...born, ...born, ...lived, ...worldEvents], { maxCommands: 100, size: 'max' })
  await fc.assert(
    fc.asyncProperty(steps, async (commands) => {
      const system = await newSystem(database.db)
      await fc.asyncModelRun(() => ({ model: newModel(), real: system }), commands)
    }),
    { numRuns, seed, endOnFailure: process.env.DOCK_MODEL_SHRINK === 'off' },
  )
})
