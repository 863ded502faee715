/**
 * Compares a host's inventory with the database. A runtime that does not belong to the current generation of a Dock is
 * fenced. A Dock whose runtime is gone boots again from its own disk on the same host; nothing here starts it on another
 * host. A runtime is destroyed only if the database has recorded the end of its generation. A runtime that the database
 * does not know, or knows in an older generation, is kept, because a restored database knows less than its hosts. An adopted
 * capture gives its Dock a generation of the lost time, which proves the end of none.
 */
import { type DockState, isReadyDockState } from '@dock/contract'
import type { RuntimeReport } from '@dock/host-protocol'
import { epochOf } from './generations.ts'
import type { OrderedGenerations } from './host-orders.ts'
import type { ExpectedDock } from './host-store.ts'

/** An inventory may have been sent before a Dock that changed less than this long ago. */
const settleMs = 5_000

/**
 * What to do with a runtime that no Dock owns.
 * - `end`: stop the runtime and keep its disk, which is the only disk of the Dock.
 * - `destroy`: destroy it; the database has recorded the end of this generation.
 * - `ordered`: do nothing; an order for the host destroys it.
 * - `quarantine`: keep it until an operator decides.
 */
export type OrphanAction = 'end' | 'destroy' | 'ordered' | 'quarantine'

export type InventoryFinding =
  /** `generation` is 0 if the host does not know it. */
  | { kind: 'orphan'; dockId: string; generation: number; state: string; way: OrphanAction }
  /** The Dock belongs to the host, which runs a later generation than the database records. */
  | { kind: 'ahead'; dock: ExpectedDock; generation: number; ip: string | null }
  | { kind: 'back'; dock: ExpectedDock }
  | { kind: 'lost'; dock: ExpectedDock; died: boolean }

type Expected = ExpectedDock & { hostId: string | null }

const belongsTo = (dock: Expected, hostId: string): boolean =>
  dock.hostId === hostId && dock.state !== 'archived' && (dock.hasDisk || dock.state !== 'error')

/**
 * Returns true if the database has recorded the end of this generation. Of generations from an earlier epoch, and of those
 * up to one from the quarantine, it may have lost the record, so for those this returns false.
 */
const hasEnded = (dock: Expected, generation: number): boolean => {
  if (generation <= dock.quarantinedUpTo) return false
  if (epochOf(dock.generation) !== epochOf(generation)) return false
  const isOver = dock.state === 'archived' || (dock.state === 'error' && !dock.hasDisk)
  return generation < dock.generation || (generation === dock.generation && isOver)
}

const judgeOrphan = (
  hostId: string,
  dock: Expected | undefined,
  { dockId, generation, state, ip }: RuntimeReport,
  ordered: OrderedGenerations | undefined,
): InventoryFinding | null => {
  const orphan = { kind: 'orphan' as const, dockId, generation, state }
  if (ordered && (generation <= ordered.upTo || generation === ordered.start))
    return { ...orphan, way: 'ordered' }
  if (!dock) return { ...orphan, way: 'quarantine' }
  if (belongsTo(dock, hostId)) {
    if (dock.generation < generation) return { kind: 'ahead', dock, generation, ip }
    // A recovery that has not finished boots from the disk of the older generation.
    return state === 'stopped' || state === 'dead' ? null : { ...orphan, way: 'end' }
  }
  return { ...orphan, way: hasEnded(dock, generation) ? 'destroy' : 'quarantine' }
}

/** Returns the findings of an inventory. A pure function. `died`: the runtime ended unexpectedly, not by command. */
export function judgeInventory(input: {
  hostId: string
  runtimes: readonly RuntimeReport[]
  expected: readonly Expected[]
  /** Docks that have a generation which the host is ordered to destroy. */
  ordered?: ReadonlyMap<string, OrderedGenerations>
  /** Docks whose disk the host keeps without knowing the generation. */
  unidentified?: readonly string[]
  rebooted: boolean
  now: Date
}): InventoryFinding[] {
  const expected = new Map(input.expected.map((dock) => [dock.id, dock]))
  const reported = new Map(input.runtimes.map((runtime) => [runtime.dockId, runtime]))
  const findings: InventoryFinding[] = []
  for (const runtime of input.runtimes) {
    // Runtimes of the warm pool have generation 0 and belong to the agent.
    if (runtime.generation === 0) continue
    const dock = expected.get(runtime.dockId)
    if (dock?.busy) continue
    if (dock && belongsTo(dock, input.hostId) && dock.generation === runtime.generation) continue
    const finding = judgeOrphan(input.hostId, dock, runtime, input.ordered?.get(runtime.dockId))
    if (finding) findings.push(finding)
  }
  for (const dockId of input.unidentified ?? []) {
    const dock = expected.get(dockId)
    // Its own Dock boots again from the disk. Nobody knows if the disk of any other Dock is older than what was recorded.
    if (dock?.busy || (dock && belongsTo(dock, input.hostId)) || input.ordered?.get(dockId)?.upTo) continue
    findings.push({ kind: 'orphan', dockId, generation: 0, state: 'stopped', way: 'quarantine' })
  }
  for (const dock of input.expected) {
    if (dock.hostId !== input.hostId) continue
    const state = dock.state as DockState
    // A Dock that is archiving still needs its runtime, since the host may refuse the stop.
    if (!isReadyDockState(state) && state !== 'unreachable' && state !== 'archiving') continue
    const runtime = reported.get(dock.id)
    const alive =
      runtime !== undefined &&
      runtime.generation === dock.generation &&
      (runtime.state === 'running' || runtime.state === 'starting')
    if (alive) {
      if (state === 'unreachable') findings.push({ kind: 'back', dock })
      continue
    }
    // A reported end of this generation is certain. If the Dock is missing, the report may be older than its start.
    const reportedEnd = runtime?.generation === dock.generation
    // The operation that holds the Dock decides what its absence means.
    if (dock.busy && !reportedEnd) continue
    const settling = input.now.getTime() - dock.stateChangedAt.getTime() < settleMs
    if (settling && !reportedEnd && !input.rebooted) continue
    const ended = runtime?.ended ?? (runtime?.state === 'dead' ? 'died' : 'ordered')
    findings.push({ kind: 'lost', dock, died: ended === 'died' && !input.rebooted })
  }
  return findings
}
