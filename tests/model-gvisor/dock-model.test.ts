/**
 * Compares the model of tests/model with a complete server with real Docks, whose processes are killed. Too slow for
 * script/test: run it with script/prove model-gvisor.
 */
import { type DatabaseConnection, openDatabase } from '@dock/control-plane/database'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type CrashWorld, cleanUp } from '../crash/crash-case.ts'
import { createCrashWorld, endCrashWorld } from '../crash/crash-world.ts'
import { databaseOf } from '../crash/scan.ts'
import { births } from '../model/support/births.ts'
import { lives } from '../model/support/lives.ts'
import { newModel } from '../model/support/model.ts'
import { realEvents } from './real-events.ts'
import { realSystem } from './real-system.ts'

const numRuns = Number(process.env.DOCK_MODEL_RUNS ?? '30')
const seed = Number(process.env.DOCK_MODEL_SEED ?? '1')
const maxCommands = 12
const runMsMax = 5 * 60_000

let world: CrashWorld
let database: DatabaseConnection
beforeAll(async () => {
  world = await createCrashWorld()
  database = openDatabase({ url: databaseOf(world.dataDir), maxConnections: 2, connectTimeoutMs: 60_000 })
})
afterAll(async () => {
  await database.close()
  await endCrashWorld(world)
})

it('is what the model says, on real Docks', { timeout: numRuns * runMsMax, retry: 0 }, async () => {
  const never = fc.constant(null)
  const ttlSeconds = fc.constantFrom(null, 3600)
  const born = births(never, ttlSeconds)
  const lived = lives(never, never, ttlSeconds)
  const steps = fc.commands([...born, ...born, ...lived, ...realEvents(() => world)], {
    maxCommands,
    size: 'max',
  })
  let run = 0
  await fc.assert(
    fc.asyncProperty(steps, async (commands) => {
      expect(await cleanUp(world)).toEqual([])
      const real = realSystem(world, database.db, `run-${++run}`)
      await fc.asyncModelRun(() => ({ model: newModel(), real }), commands)
      process.stdout.write(`run ${run}: ${[...commands].length} steps\n`)
    }),
    { numRuns, seed, endOnFailure: true },
  )
})
