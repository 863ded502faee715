import { newUuid } from '@dock/foundation'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { outcomeOf, useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { secondHost } from '@dock/testkit/src/docks/second-host.ts'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { listUnkeptCaptures } from '../../hosts/host-store.ts'
import { HostRefused } from '../../hosts/index.ts'
import { latestSnapshot } from '../core/kept-snapshot.ts'
import { deleteDock, resumeDock, stopDock } from '../index.ts'

let world: TestWorld
let dockId: string
let snapshotId: string
let second: string
let restores: string[]
useTestWorld((fresh) => {
  world = fresh
})

const resume = () => resumeDock(world.modules.context, world.caller, dockId, {})
const ensure = (hostId: string, isMissing?: boolean) =>
  world.modules.copies.ensureCapture(snapshotId, hostId, isMissing)
const rows = async () =>
  (
    await sql<{ hostId: string; state: string }>`select host_id as "hostId", state from snapshot_restores
      where snapshot_id = ${snapshotId}`.execute(world.db)
  ).rows
const hostId = async () => (await latestSnapshot(world.db, world.organizationId, dockId))?.hostId

beforeEach(async () => {
  await world.modules.copies.start()
  dockId = (await world.create()).id
  await stopDock(world.modules.context, world.caller, dockId, { force: false })
  const kept = async () => latestSnapshot(world.db, world.organizationId, dockId)
  snapshotId = (await kept())!.id
  const isCopied = async () => {
    world.clock.advance(60_000)
    return (await kept())!.copied
  }
  await expect.poll(isCopied, { timeout: 20_000 }).toBe(true)
  await world.report()
  second = await secondHost(world)
  restores = []
  const { restoreCapture } = world.host
  world.host.restoreCapture = async (on, ...rest) => {
    restores.push(on.hostId)
    return restoreCapture(on, ...rest)
  }
})
afterEach(() => world.modules.copies.stop())

describe('a capture that its host lacks', () => {
  it('is restored from its copy when a Dock boots from it', async () => {
    world.host.captures.delete(snapshotId)
    expect(await resume()).toEqual({ id: dockId, state: 'ready' })
    expect(restores).toEqual([world.hostId])
    expect(await rows()).toEqual([])
    expect(await hostId()).toBe(world.hostId)
  })

  it('fails the boot if there is no copy either, and the Dock stays archived', async () => {
    world.host.captures.delete(snapshotId)
    await sql`delete from copies where snapshot_id = ${snapshotId}`.execute(world.db)
    expect(await outcomeOf(resume())).toBe('service_unavailable')
    expect(restores).toEqual([])
  })
})

describe('a restore', () => {
  it('runs once for concurrent callers', async () => {
    await Promise.all([ensure(second), ensure(second), ensure(second)])
    await ensure(second)
    expect(restores).toEqual([second])
  })

  it('does not run again for a caller that looked before it ended', async () => {
    const mayEnd = Promise.withResolvers<void>()
    const { restoreCapture } = world.host
    world.host.restoreCapture = async (...call) => {
      const restored = await restoreCapture(...call)
      await mayEnd.promise
      return restored
    }
    const first = ensure(second)
    await expect.poll(() => restores).toEqual([second])
    const locking = await world.db.startTransaction().execute()
    await sql`select 1 from snapshots where id = ${snapshotId} for update`.execute(locking)
    const late = ensure(second)
    // The late caller has its view of the database, in which nothing is kept, and waits for the row.
    const isWaiting = async () =>
      (await sql`select 1 from pg_locks where not granted`.execute(world.db)).rows.length > 0
    await expect.poll(isWaiting).toBe(true)
    mayEnd.resolve()
    await first
    await locking.commit().execute()
    await late
    expect(restores).toEqual([second])
  })

  it('keeps the capture on both hosts', async () => {
    await ensure(second)
    expect(await hostId()).toBe(world.hostId)
    expect(await rows()).toEqual([{ hostId: second, state: 'kept' }])
    for (const host of [world.hostId, second])
      expect(await listUnkeptCaptures(world.db, host, [snapshotId])).toEqual([])
    expect(await listUnkeptCaptures(world.db, newUuid(), [snapshotId])).toEqual([
      { id: snapshotId, isOver: true },
    ])
  })

  it('leaves no row behind if it fails', async () => {
    const { restoreCapture } = world.host
    world.host.restoreCapture = () => Promise.reject(new HostRefused('no_space', 'full'))
    await expect(ensure(second)).rejects.toThrow('full')
    expect(await rows()).toEqual([])
    world.host.restoreCapture = restoreCapture
    await ensure(second)
    expect(restores).toEqual([second])
  })

  it('cancels an order to remove the capture from that host', async () => {
    await sql`insert into host_orders (host_id, kind, thing_id, created_at)
      values (${second}, 'capture', ${snapshotId}, now())`.execute(world.db)
    await ensure(second)
    expect((await sql`select 1 from host_orders where host_id = ${second}`.execute(world.db)).rows).toEqual(
      [],
    )
  })

  it('is removed from every host when its Dock is deleted', async () => {
    await ensure(second)
    const removed: string[] = []
    const { destroyCapture } = world.host
    world.host.destroyCapture = (on, ...rest) => {
      removed.push(on.hostId)
      return destroyCapture(on, ...rest)
    }
    await deleteDock(world.modules.context, world.caller, dockId, dockId)
    expect(removed.toSorted()).toEqual([world.hostId, second].toSorted())
  })
})
