import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  type CrashCase,
  type CrashWorld,
  interruptCall,
  nameOf,
  runCase,
  settle,
} from '../../crash/crash-case.ts'
import { createCrashWorld, endCrashWorld } from '../../crash/crash-world.ts'
import { run } from '../support/dock.ts'
import { freshName } from '../support/use-server.ts'

let world: CrashWorld
beforeAll(async () => {
  world = await createCrashWorld()
})
afterAll(async () => {
  if (world) await endCrashWorld(world)
})

/** One case of each operation, covering each process. `script/prove crash` runs all cases. */
const sample: CrashCase[] = [
  { operation: 'create', place: 'saga:create:boot:after', victim: 'control-plane' },
  { operation: 'stop', place: 'agent:disk-capture:after', victim: 'agent' },
  { operation: 'resume', place: 'saga:resume:finish:before', victim: 'database' },
  { operation: 'branch', place: 'saga:branch:capture:after', victim: 'control-plane' },
  { operation: 'delete', place: 'agent:sandbox-destroy:after', victim: 'agent' },
]

let runs = 0
it.each(sample.map((crash) => [nameOf(crash), crash] as const))(
  'a crash leaves nothing over and loses nothing: %s',
  async (_name, crash) => {
    runs += 1
    expect((await runCase(world, crash, `crash-${runs}`)).problems).toEqual([])
  },
  300_000,
)

/** Cases of the upgrade of a running Dock. It is not in the matrix, because it is not an operation on a Dock. */
const ofUpgrades: Omit<CrashCase, 'operation'>[] = [
  { place: 'upgrade:apply:before', victim: 'control-plane' },
  { place: 'upgrade:apply:after', victim: 'control-plane' },
  { place: 'agent:apply:between', victim: 'agent' },
  { place: 'agent:apply:after', victim: 'agent' },
]
const patient = { timeout: 60_000, interval: 500 }

it.each(ofUpgrades)(
  'an upgrade interrupted at $place by killing $victim still delivers the complete version',
  async (crash) => {
    const { client, admin, faults } = world
    const name = freshName('broken-off')
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
    await interruptCall(world, crash, client.call('upgradeEnvironment', { params, body: {} }))
    expect(await settle(world, Date.now())).toEqual([])
    const counts = async (): Promise<number[]> =>
      (await client.call('listEnvironmentVersions', { params })).map(({ dockCount }) => dockCount)
    await expect.poll(counts, patient).toEqual([1, 0, 0, 0, 0])
    expect(await look()).toBe('new new\n')
  },
  300_000,
)
