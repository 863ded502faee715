/**
 * Runs random calls that create and drop references to objects and captures, concurrently, while sweeps run and
 * processes are killed. Afterwards no referenced object or capture may be missing, and none without a reference may be
 * left.
 */
import { readdir } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Dock } from '@dock/contract'
import { DockApiError } from '@dock/sdk'
import { sql } from 'kysely'
import { capturesIn } from './disk-host.ts'
import { drillSnapshot } from './restore-drill.ts'
import { createDiskDock, fillTree, type StorageWorld, until } from './storage-world.ts'

const docksMax = 10
/** Docks that are never deleted. They and their newest Snapshots must still exist at the end. */
const keptDocks = 3
const keptSnapshots = 20
const isKept = (name: string | null): boolean => name?.startsWith('kept-') ?? false
const templatesMax = 4
/** Number of checks, a second apart, after which an unchanged number of leftovers is reported. */
const checksMax = 120

export type SoakOptions = { durationMs: number; workers: number; killEveryMs: number }
export type SoakReport = { done: Map<string, number>; refused: Map<string, number>; kills: number }

const count = (counts: Map<string, number>, name: string): void =>
  void counts.set(name, (counts.get(name) ?? 0) + 1)
const one = <T>(items: readonly T[]): T | undefined => items[Math.floor(Math.random() * items.length)]
const confirmed = (id: string) => ({ params: { id }, headers: { 'x-confirm-delete': id } })

type Step = (world: StorageWorld, docks: readonly Dock[], name: string) => Promise<unknown>
const among = (docks: readonly Dock[], states: readonly Dock['state'][]): Dock | undefined =>
  one(docks.filter(({ state }) => states.includes(state)))
const running = ['ready', 'idle'] as const
const any = ['ready', 'idle', 'archived'] as const

/** Each step returns null if there is nothing to apply it to. */
const steps: Readonly<Record<string, Step>> = {
  create: async (world, docks, name) => (docks.length < docksMax ? createDiskDock(world, name) : null),
  write: async (world, docks, name) => {
    const dock = among(docks, running)
    return dock ? fillTree(world.host.mountOf(dock.id), name) : null
  },
  stop: async ({ client }, docks) => {
    const dock = among(docks, running)
    return dock ? client.call('stopDock', { params: { id: dock.id }, body: {} }) : null
  },
  resume: async ({ client }, docks) => {
    const dock = among(docks, ['archived'])
    return dock ? client.call('resumeDock', { params: { id: dock.id }, body: {} }) : null
  },
  branch: async ({ client }, docks, name) => {
    const dock = docks.length < docksMax ? among(docks, any) : undefined
    return dock ? client.call('branchDock', { params: { id: dock.id }, body: { name } }) : null
  },
  'delete a Dock': async ({ client }, docks) => {
    const dock = among(
      docks.filter(({ name }) => !isKept(name)),
      any,
    )
    return dock ? client.call('deleteDock', confirmed(dock.id)) : null
  },
  'delete a Snapshot': async ({ client }, docks) => {
    const kept = docks.filter(({ name }) => isKept(name)).map(({ id }) => id)
    const { snapshots } = await client.call('listSnapshots', { query: { limit: 50 } })
    const others = snapshots.filter(({ dockId }) => !kept.includes(dockId))
    const ofKept = await Promise.all(
      kept.map((id) => client.call('listDockSnapshots', { params: { id }, query: { limit: 100 } })),
    )
    const old = ofKept.flatMap((page) => page.snapshots.slice(keptSnapshots))
    const chosen = [one(others), one(old)].filter((snapshot) => snapshot !== undefined)
    if (chosen.length === 0) return null
    return Promise.all(chosen.map(({ id }) => client.call('deleteSnapshot', confirmed(id))))
  },
  'save a Template': async ({ client }, docks) => {
    const dock = among(docks, any)
    const name = `template-${Math.floor(Math.random() * templatesMax)}`
    return dock ? client.call('createTemplate', { body: { dockId: dock.id, name } }) : null
  },
  'start from a Template': async ({ client, admin }, docks, name) => {
    const template = docks.length < docksMax ? one(await readyTemplates(client)) : undefined
    const body = {
      workspaceId: admin.workspaceId,
      name,
      from: template?.name ?? '',
      cpus: 1,
      memoryMiB: 512,
      noEnv: true,
    }
    return template ? client.call('createDock', { body }) : null
  },
  'delete a Template': async ({ client, admin: { organizationId } }) => {
    const template = one(await readyTemplates(client))
    if (!template) return null
    return client.call('deleteTemplate', { params: { name: template.name }, query: { organizationId } })
  },
}

const readyTemplates = async (client: StorageWorld['client']) =>
  (await client.call('listTemplates', {})).filter(({ status }) => status === 'ready')

/** Runs the soak for `durationMs`. Counts failed calls, which are expected while processes are down. */
export async function soakSweeps(world: StorageWorld, options: SoakOptions): Promise<SoakReport> {
  const report: SoakReport = { done: new Map(), refused: new Map(), kills: 0 }
  const ends = Date.now() + options.durationMs
  for (let index = 0; index < keptDocks; index++) {
    const dock = await createDiskDock(world, `kept-${index}`)
    await fillTree(world.host.mountOf(dock.id), `kept-${index}`)
    await world.client.call('stopDock', { params: { id: dock.id }, body: {} })
  }
  let number = 0
  const work = async (): Promise<void> => {
    while (Date.now() < ends) {
      const [name, step] = one(Object.entries(steps))!
      number += 1
      try {
        const docks = await world.client.call('listDocks', { query: { all: true } })
        if ((await step(world, docks, `s-${number}`)) !== null) count(report.done, name)
      } catch (error) {
        count(report.refused, error instanceof DockApiError ? error.code : 'no response')
        await delay(100)
      }
    }
  }
  const kill = async (): Promise<void> => {
    while (Date.now() + options.killEveryMs < ends) {
      await delay(options.killEveryMs)
      const isOnline = async () =>
        (await world.client.call('listHosts', {})).some(({ state }) => state === 'online')
      await until('the host is online', isOnline)
      const victim = one([world.controlPlane, world.host])!
      victim.kill()
      report.kills += 1
    }
  }
  await Promise.all([...Array.from({ length: options.workers }, work), kill()])
  return report
}

const rowsOf = async ({ database }: StorageWorld, query: ReturnType<typeof sql<{ id: string }>>) =>
  (await query.execute(database.db)).rows.map(({ id }) => id)

/** Lists the keys of all objects in the store. */
const objectsIn = async ({ objects }: StorageWorld): Promise<string[]> =>
  (await readdir(objects, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => `${parentPath}/${name}`.slice(objects.length + 1))

/** Lists the keys that the database references: chunks of copies, manifests, parts of indexes. */
const referencedObjects = (world: StorageWorld): Promise<string[]> =>
  rowsOf(
    world,
    sql`select k.object_key as id from copy_chunks k where exists (
        select 1 from copy_chunk_uses u where u.organization_id = k.organization_id and u.name = k.name)
      union all select organization_id || '/copies/' || id || '/manifest' from copies
      union all select organization_id || '/copies/' || id || '/index-' || part
        from copies, generate_series(0, index_parts - 1) as part`,
  )

const orphans = async (world: StorageWorld): Promise<string[]> => {
  const objects = new Set(await referencedObjects(world))
  const kept = new Set(await rowsOf(world, sql`select id from snapshots where host_id is not null`))
  return [
    ...(await objectsIn(world)).filter((key) => !objects.has(key)),
    ...(await capturesIn(world.host)).filter((id) => !kept.has(id)).map((id) => `capture ${id}`),
  ]
}

export type SoakFindings = { restored: number; chunks: number; objects: number; problems: string[] }

/** Waits until `find` returns nothing, or its number of results has not fallen for `checksMax` checks. */
const findLeftovers = async (find: () => Promise<string[]>): Promise<string[]> => {
  let fewest = Number.POSITIVE_INFINITY
  for (let checks = 0; ; checks++) {
    // Files may disappear while they are listed.
    const left = await find().catch((error: unknown) => {
      if (checks >= checksMax) throw error
    })
    if (left?.length === 0 || (left && checks >= checksMax)) return left
    if (left && left.length < fewest) {
      fewest = left.length
      checks = 0
    }
    await delay(1000)
  }
}

/** Lists leftovers, one kind after the other: running operations, completed Snapshots without a copy, orphans. */
const unsettled = async (world: StorageWorld): Promise<string[]> => [
  ...(await findLeftovers(() =>
    rowsOf(
      world,
      sql`select 'never ended: ' || kind || ' ' || id || ', ' || status || ' after ' || coalesce(step, 'nothing') as id
        from operations where status <> 'completed'`,
    ),
  )),
  ...(await findLeftovers(() =>
    rowsOf(
      world,
      sql`select 'never copied: Snapshot ' || s.id || coalesce(', attempt ' || c.id, '') as id
        from snapshots s left join copies c on c.snapshot_id = s.id
        where s.status = 'completed' and s.copied_at is null`,
    ),
  )),
  ...(await findLeftovers(() => orphans(world))).map((name) => `orphan: ${name}`),
]

/** Checks the final state, once operations, copies and sweeps have finished. */
export async function checkSweeps(world: StorageWorld): Promise<SoakFindings> {
  const problems = await unsettled(world)
  const there = new Set([...(await objectsIn(world)), ...(await capturesIn(world.host))])
  const captured = await rowsOf(world, sql`select id from snapshots where status = 'completed'`)
  const referenced = await referencedObjects(world)
  for (const name of [...referenced, ...captured]) if (!there.has(name)) problems.push(`lost: ${name}`)
  // The control plane's own drills would slow these down.
  await world.controlPlane.end()
  let chunks = 0
  for (const id of captured) {
    const compared = await drillSnapshot(world, id).catch((error: unknown) => String(error))
    if (typeof compared === 'string') problems.push(`Snapshot ${id}: ${compared}`)
    else if (compared.different.length > 0)
      problems.push(`Snapshot ${id} differs in ${compared.different.length} chunks`)
    else chunks += compared.chunks
  }
  return { restored: captured.length, chunks, objects: referenced.length, problems }
}
