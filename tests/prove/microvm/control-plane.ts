/** Two people create, stop, resume, branch and delete Docks while the control plane is killed five times. */
import { createCrashWorld, endCrashWorld } from '../../crash/crash-world.ts'
import { soak } from '../../crash/soak.ts'
import type { Check } from './check.ts'

const killsWanted = 5
const durationMs = 90_000

export async function proveControlPlane(check: Check, print: (line: string) => void): Promise<void> {
  const world = await createCrashWorld()
  const seed = Date.now() % 100_000
  const { operations, kills, problems, refused } = await soak(world, {
    ...{ seed, durationMs, people: 2 },
    ...{ victims: ['control-plane'], killsMax: killsWanted },
  })
  print(`        seed ${seed}: ${operations} operations`)
  for (const [code, times] of refused) print(`        ${times} × ${code}`)
  check(`the control plane was killed ${killsWanted} times`, kills === killsWanted, String(kills))
  check('nothing acknowledged is lost, and nothing is left over', problems.length === 0, problems.join('; '))
  await endCrashWorld(world)
}
