import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { secondHostOnline } from '@dock/testkit/src/docks/second-host.ts'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { readLargestDock } from './largest-dock.ts'

let world: TestWorld
useTestWorld(
  (fresh) => {
    world = fresh
  },
  { alone: true },
)
const set = (gib: { memory: number; disk: number }, state = 'online') =>
  sql`update hosts set vcpu_total = 4, mem_total_bytes = ${gib.memory * 2 ** 30},
    disk_total_bytes = ${gib.disk * 2 ** 30}, state = ${state}`.execute(world.db)

it('is what the largest host that is online can take, with the runtimes of all', async () => {
  await set({ memory: 8, disk: 200 })
  expect(await readLargestDock(world.db)).toEqual({
    largest: { cpus: 4, memoryMiB: 8192, diskGiB: 100 },
    runtimes: ['gvisor'],
  })
  // A disk of the default size may fill a small pool.
  await set({ memory: 8, disk: 15 })
  expect((await readLargestDock(world.db)).largest?.diskGiB).toBe(15)
  await secondHostOnline(world, { runtime: 'microvm' })
  expect((await readLargestDock(world.db)).runtimes).toEqual(['gvisor', 'microvm'])
})

it('is null while no host is online', async () => {
  await set({ memory: 8, disk: 200 }, 'offline')
  expect(await readLargestDock(world.db)).toEqual({ largest: null, runtimes: [] })
})
