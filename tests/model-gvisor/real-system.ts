/** The system under test: a complete server with real Docks. Hosts fail only by killing their processes. */
import type { Operation } from '@dock/contract'
import { expect } from 'vitest'
import { type CrashWorld, settle } from '../crash/crash-case.ts'
import type { Calls, System } from '../model/support/system.ts'

/** Returns the operation once it is completed or blocked. */
const settled = async ({ client }: CrashWorld, { id }: Operation): Promise<Operation> => {
  const underWay = ['pending', 'processing']
  const read = () => client.call('readOperation', { params: { id } })
  await expect.poll(async () => underWay.includes((await read()).status), { timeout: 60_000 }).toBe(false)
  return read()
}

const callsOf = (world: CrashWorld, run: string): Calls => {
  const { client, admin } = world
  const keyed = (key: string | null) => (key === null ? {} : { 'idempotency-key': `${run}-${key}` })
  const confirmed = (id: string) => ({ params: { id }, headers: { 'x-confirm-delete': id } })
  const small = { workspaceId: admin.workspaceId, cpus: 1, memoryMiB: 512, diskGiB: 1 }
  return {
    create: ({ name, ttlSeconds }, key) => {
      const body = { ...small, ttlSeconds, ...(name === null ? {} : { name }) }
      return client.call('createDock', { body, headers: keyed(key) })
    },
    branch: (id, key) =>
      client.call('branchDock', { params: { id }, body: { ttlSeconds: null }, headers: keyed(key) }),
    stop: (id, force) => client.call('stopDock', { params: { id }, body: { force } }),
    resume: (id, body) => client.call('resumeDock', { params: { id }, body }),
    remove: async (id) => settled(world, (await client.call('deleteDock', confirmed(id))).operation),
    update: (id, body) => client.call('updateDock', { params: { id }, body }),
    exec: async (id, text, key) => {
      const body = { command: `printf %s ${text}` }
      return (await client.call('execInDock', { params: { id }, body, headers: keyed(key) })).stdout
    },
    list: () => client.call('listDocks', { query: { all: true } }),
    findSnapshot: async (id) => {
      const page = await client.call('listDockSnapshots', { params: { id }, query: { limit: 100 } })
      return page.snapshots.find(({ status }) => status === 'completed')?.id
    },
    removeSnapshot: async (id) =>
      settled(world, (await client.call('deleteSnapshot', confirmed(id))).operation),
  }
}

/** `run` is a prefix that keeps the idempotency keys of different runs apart. */
export function realSystem(world: CrashWorld, db: System['db'], run: string): System {
  return {
    db,
    calls: callsOf(world, run),
    failNext: (command) => {
      throw new Error(`cannot make ${command} fail on a real host`)
    },
    settle: async () => {
      expect(await settle(world, 0)).toEqual([])
    },
    // `settle` has already compared machine and database.
    check: async () => undefined,
  }
}
