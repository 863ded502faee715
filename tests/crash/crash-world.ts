/** A server that is made to be killed: armed with fault points, without the first Dock, its places known. */
import { freePort, newDataDir, removeDataDir, startServer } from '../e2e/support/server.ts'
import { type CrashCase, type CrashWorld, cleanUp, settle } from './crash-case.ts'
import { createFaultFolder } from './fault-folder.ts'
import { type Operation, perform, prepare } from './lifecycle.ts'
import { victims } from './processes.ts'

/** Starts it. `warmPool`: how many Docks its host holds ready. `keptDir`: a data folder that is there after its end. */
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

/** Ends it as a person would; throws when that was not clean. */
export async function endCrashWorld(world: CrashWorld, keptDir?: string): Promise<void> {
  const code = await world.interrupt()
  await world.faults.remove()
  if (code !== 0) throw new Error(`the server ended with ${code}; ${world.logFile}`)
  if (keptDir === undefined) await removeDataDir(world.dataDir)
}

/** Writes of disks and of copies: they have a proof of their own, script/prove captures. */
const ofStorage = /^(disk|store):/

/** Every place that an operation comes through when nothing goes wrong, after its answer too, in order. */
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

/** The whole matrix: each operation, each place on its way, each process. */
export function casesOf(placesByOperation: ReadonlyMap<Operation, readonly string[]>): CrashCase[] {
  return [...placesByOperation].flatMap(([operation, places]) =>
    places.flatMap((place) => victims.map((victim) => ({ operation, place, victim }))),
  )
}
