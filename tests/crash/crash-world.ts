/** A server for crash tests: with fault points, and without the first Dock. */
import { freePort } from '@dock/testkit/src/free-port.ts'
import { newDataDir, removeDataDir, startServer } from '../e2e/support/server.ts'
import { type CrashCase, type CrashWorld, cleanUp, settle } from './crash-case.ts'
import { createFaultFolder } from './fault-folder.ts'
import { type Operation, perform, prepare } from './lifecycle.ts'
import { victims } from './processes.ts'

/** Starts a server. `warmPool` is the size of its host's warm pool. `keptDir` is a data folder that is not removed. */
export async function createCrashWorld(warmPool = 0, keptDir?: string): Promise<CrashWorld> {
  const faults = await createFaultFolder()
  const port = await freePort()
  const server = await startServer(keptDir ?? (await newDataDir()), port, {
    DOCK_FAULTS: faults.path,
    DOCK_WARM_POOL: String(warmPool),
  })
  const world: CrashWorld = { ...server, port, faults }
  const problems = await cleanUp(world)
  if (problems.length === 0) return world
  await server.interrupt()
  throw new Error(problems.join('\n'))
}

/** Stops the server with SIGINT. Throws if its exit code is not 0. */
export async function endCrashWorld(world: CrashWorld, keptDir?: string): Promise<void> {
  const code = await world.interrupt()
  await world.faults.remove()
  if (code !== 0) throw new Error(`the server exited with code ${code}; see ${world.logFile}`)
  if (keptDir === undefined) await removeDataDir(world.dataDir)
}

/** Fault points in writes of disks and copies. script/prove captures covers them. */
const ofStorage = /^(disk|store):/

/** Returns the fault points that a successful operation passes, in order, including those after its response. */
export async function placesOf(world: CrashWorld, operation: Operation): Promise<string[]> {
  const prepared = await prepare(world, operation, `trace-${operation}-${Date.now().toString(36)}`)
  const problems = await settle(world, 0)
  const places = await world.faults.placesOf(async () => {
    await perform(world, operation, prepared)
    problems.push(...(await settle(world, 0)))
  })
  problems.push(...(await cleanUp(world)))
  if (problems.length > 0) throw new Error(problems.join('\n'))
  return places.filter((place) => !ofStorage.test(place))
}

/** Returns all crash cases: each operation, each of its fault points, each process. */
export function casesOf(placesByOperation: ReadonlyMap<Operation, readonly string[]>): CrashCase[] {
  return [...placesByOperation].flatMap(([operation, places]) =>
    places.flatMap((place) => victims.map((victim) => ({ operation, place, victim }))),
  )
}
