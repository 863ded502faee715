/** Invariants checked after every command: model and system agree, nothing is left over, all counts are right. */
import { canMoveDock, type DockCause, type DockState } from '@dock/contract'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { sql } from 'kysely'
import { expect } from 'vitest'
import { isReady, type Model } from './model.ts'
import type { System } from './system.ts'

const byId = <Row extends { id: string }>(rows: readonly Row[]): Row[] =>
  [...rows].sort((a, b) => (a.id < b.id ? -1 : 1))

/** The API lists exactly the Docks of the model, with the same values. */
const docksAgree = async ({ calls }: System, model: Model): Promise<void> => {
  const docks = await calls.list()
  const shown = docks.map(({ id, name, state, ttlSeconds, billingPausedAt }) => ({
    ...{ id, name, state, ttlSeconds },
    billingPaused: billingPausedAt !== null,
  }))
  const expected = model.docks.map(({ id, name, state, ttlSeconds, billingPaused }) => ({
    ...{ id, name, state, ttlSeconds, billingPaused },
  }))
  expect(byId(shown)).toEqual(byId(expected))
}

type History = { id: string; generation: number; snapshots: number; events: string[]; moves: Move[] }
type Move = { from: DockState | null; to: DockState; why: string }

/** Generations, Snapshots, events and state changes in the database match the model. */
const historyAgrees = async ({ db }: System, model: Model): Promise<void> => {
  const { rows } = await sql<History>`
    select d.id, d.generation,
      (select count(*) from snapshots s where s.dock_id = d.id and s.status = 'completed')::int as snapshots,
      array(select e.type from dock_events e where e.dock_id = d.id) as events,
      array(select jsonb_build_object('from', c.from_state, 'to', c.to_state, 'why', c.cause ->> 'why')
        from dock_state_changes c where c.dock_id = d.id order by c.id) as moves
    from docks d`.execute(db)
  const shown = rows.map(({ id, generation, snapshots, events }) => ({
    ...{ id, generation, snapshots },
    events: events.sort(),
  }))
  const expected = model.docks.map(({ id, generation, snapshots, events }) => ({
    ...{ id, generation, snapshots },
    events: [...events].sort(),
  }))
  expect(byId(shown)).toEqual(byId(expected))
  for (const { id, moves } of rows) {
    const state = model.docks.find((dock) => dock.id === id)?.state
    expect(moves.at(-1)?.to).toBe(state)
    for (const [index, { from, to, why }] of moves.entries()) {
      expect(from).toBe(index === 0 ? null : moves[index - 1]!.to)
      const allowed = from === null || canMoveDock(from, to, why as DockCause)
      expect({ from, to, why, allowed }).toMatchObject({ allowed: true })
    }
  }
}

/**
 * The in-memory host matches the database: sandboxes and counts agree, each boot used a new generation, and each
 * completed Snapshot has a capture.
 */
const hostAgrees = async ({ host, hostId, db }: TestWorld, model: Model): Promise<void> => {
  for (const dock of model.docks) {
    const sandbox = host.sandboxes.get(dock.id)
    if (isReady(dock) || dock.state === 'unreachable')
      expect(sandbox).toMatchObject({ state: 'running', generation: dock.generation })
    if (dock.state !== 'archived' && (dock.state !== 'error' || dock.hasDisk)) continue
    // A sandbox that was given up keeps running until its host reports, but with an older generation than the Dock.
    if (model.online) expect(sandbox).toBeUndefined()
    else expect(sandbox?.generation ?? 0).toBeLessThan(dock.generation)
  }
  const boots = new Map<string, string>()
  for (const call of host.calls.filter(({ method }) => method === 'start')) {
    const { generation, operationId } = call.body as { generation: number; operationId: string }
    const boot = `${call.dockId} ${generation}`
    expect(boots.get(boot) ?? operationId).toBe(operationId)
    boots.set(boot, operationId)
  }
  const { rows } = await sql<{
    missing: string[]
    slots: number
    counted: number
    cpus: number
    used: number
  }>`
    select array(select s.id::text from snapshots s
        where s.status = 'completed' and not s.id = any(${[...host.captures]}::uuid[])) as missing,
      h.reserved_slots as slots, (select count(*) from docks d where d.placed)::int as counted,
      h.reserved_cpus as cpus, (select coalesce(sum(d.cpus), 0) from docks d where d.placed)::int as used
    from hosts h where h.id = ${hostId}`.execute(db)
  const { missing, slots, counted, cpus, used } = rows[0]!
  expect(missing).toEqual([])
  expect([slots, cpus]).toEqual([counted, used])
  expect(counted).toBe(model.docks.filter((dock) => dock.placed).length)
}

/** All operations are completed, except those blocked on a silent host. */
const nothingIsLeft = async ({ db }: System, model: Model): Promise<void> => {
  const { rows } = await sql<{
    status: string
  }>`select status from operations where status <> 'completed'`.execute(db)
  expect(rows.map((row) => row.status)).toEqual(
    model.docks.filter((dock) => dock.pending !== null).map(() => 'blocked'),
  )
}

export async function checkFakeHost(world: TestWorld, model: Model): Promise<void> {
  await hostAgrees(world, model)
  if (!model.online) return
  const orphans = [...world.host.sandboxes.keys()].filter((id) => !model.docks.some((dock) => dock.id === id))
  expect(orphans).toEqual([])
}

export async function checkInvariants(system: System, model: Model): Promise<void> {
  await docksAgree(system, model)
  await historyAgrees(system, model)
  await nothingIsLeft(system, model)
  await system.check(model)
}
