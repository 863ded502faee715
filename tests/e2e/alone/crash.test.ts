import { afterAll, beforeAll, expect, it } from 'vitest'
import { type CrashCase, type CrashWorld, nameOf, runCase } from '../../crash/crash-case.ts'
import { createCrashWorld, endCrashWorld } from '../../crash/crash-world.ts'

let world: CrashWorld
beforeAll(async () => {
  world = await createCrashWorld()
})
afterAll(async () => {
  if (world) await endCrashWorld(world)
})

/** A case of each operation and two of each process; `script/prove crash` runs them all. */
const sample: CrashCase[] = [
  { operation: 'create', place: 'saga:create:boot:after', victim: 'control-plane' },
  { operation: 'stop', place: 'agent:disk-capture:after', victim: 'agent' },
  { operation: 'resume', place: 'saga:resume:finish:before', victim: 'database' },
  { operation: 'branch', place: 'saga:branch:capture:after', victim: 'control-plane' },
  { operation: 'delete', place: 'agent:sandbox-destroy:after', victim: 'agent' },
]

let runs = 0
it.each(sample.map((crash) => [nameOf(crash), crash] as const))(
  'a crash leaves nothing and loses nothing: %s',
  async (_name, crash) => {
    runs += 1
    expect((await runCase(world, crash, `crash-${runs}`)).problems).toEqual([])
  },
  300_000,
)
