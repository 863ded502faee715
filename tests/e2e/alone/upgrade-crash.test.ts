/** The upgrade of a running Dock, with SIGKILL of the control plane or the agent before, in and after its delivery. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { breakOff, type CrashCase, type CrashWorld, settle } from '../../crash/crash-case.ts'
import { createCrashWorld, endCrashWorld } from '../../crash/crash-world.ts'
import { run } from '../support/dock.ts'

let world: CrashWorld
beforeAll(async () => {
  world = await createCrashWorld()
})
afterAll(async () => {
  if (world) await endCrashWorld(world)
})

const cases: Omit<CrashCase, 'operation'>[] = [
  { place: 'upgrade:deliver:before', victim: 'control-plane' },
  { place: 'upgrade:deliver:after', victim: 'control-plane' },
  { place: 'upgrade:pin:after', victim: 'control-plane' },
  { place: 'agent:furnish:before', victim: 'agent' },
  { place: 'agent:furnish:between', victim: 'agent' },
  { place: 'agent:furnish:after', victim: 'agent' },
]
const patient = { timeout: 60_000, interval: 500 }

it.each(cases)('broken off at $place it ends with the whole version: $victim', async (crash) => {
  const { client, admin, faults } = world
  const name = crash.place.replaceAll(':', '-')
  const body = { organizationId: admin.organizationId, name }
  const params = { ref: (await client.call('createEnvironment', { body })).id }
  const give = async (value: string): Promise<void> => {
    await client.call('setEnvironmentVariable', { params, body: { key: 'WORD', value } })
    await client.call('setEnvironmentFile', { params, body: { path: 'word', contents: value } })
  }
  await give('old')
  const size = { cpus: 1, memoryMiB: 1024, diskGiB: 2 }
  const { id } = await client.call('createDock', {
    body: { workspaceId: admin.workspaceId, environment: params.ref, ...size },
  })
  const look = (): Promise<string> => run(world, id, 'echo "$WORD $(cat ~/work/word)"')
  expect(await look()).toBe('old old\n')
  await give('new')
  await faults.arm(crash.place)
  await breakOff(world, crash, client.call('upgradeEnvironment', { params, body: {} }))
  expect(await settle(world, Date.now())).toEqual([])
  const counts = async (): Promise<number[]> =>
    (await client.call('listEnvironmentVersions', { params })).map(({ dockCount }) => dockCount)
  await expect.poll(counts, patient).toEqual([1, 0, 0, 0, 0])
  expect(await look()).toBe('new new\n')
})
