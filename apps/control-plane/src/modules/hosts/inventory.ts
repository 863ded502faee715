/**
 * Compares what a host reports with what is recorded. A silent host is unknown, not empty: nothing here starts a Dock
 * elsewhere. A runtime that no current generation owns is fenced; a recorded one that is gone boots again from its own
 * disk on the same host. Only what the database knows to have ended is destroyed: what it does not know, or knows in an
 * older generation, is kept, since a restored database knows less than its hosts.
 */
import { type DockState, isReadyDockState } from '@dock/contract'
import type { RuntimeReport } from '@dock/host-protocol'
import { epochOf } from './generations.ts'
import type { ExpectedDock } from './host-store.ts'

/** A Dock that changed this recently may not be in a report that was on its way. */
const settleMs = 5_000

/**
 * What becomes of a runtime that no Dock owns. `end`: the Dock's only disk is there, so that the runtime ends and the disk
 * stays. `destroy`: the database knows that this generation has ended. `ordered`: an order for the host names it.
 */
export type OrphanWay = 'end' | 'destroy' | 'ordered' | 'quarantine'

export type InventoryFinding =
  | { kind: 'orphan'; dockId: string; generation: number; state: string; way: OrphanWay }
  /** The host is ahead of the record: the Dock is its own, at a later generation. */
  | { kind: 'ahead'; dock: ExpectedDock; generation: number; ip: string | null }
  | { kind: 'back'; dock: ExpectedDock }
  | { kind: 'lost'; dock: ExpectedDock; died: boolean }

type Expected = ExpectedDock & { hostId: string | null }

const belongsTo = (dock: Expected, hostId: string): boolean =>
  dock.hostId === hostId && dock.state !== 'archived' && (dock.hasDisk || dock.state !== 'error')

/** Whether the database itself has seen the end of this generation. One of an earlier epoch it may have forgotten. */
const hasEnded = (dock: Expected, generation: number): boolean => {
  if (epochOf(dock.generation) !== epochOf(generation)) return false
  const isOver = dock.state === 'archived' || (dock.state === 'error' && !dock.hasDisk)
  return generation < dock.generation || (generation === dock.generation && isOver)
}

const judgeOrphan = (
  hostId: string,
  dock: Expected | undefined,
  { dockId, generation, state, ip }: RuntimeReport,
  orderedUpTo: number,
): InventoryFinding | null => {
  const orphan = { kind: 'orphan' as const, dockId, generation, state }
  if (generation <= orderedUpTo) return { ...orphan, way: 'ordered' }
  if (!dock) return { ...orphan, way: 'quarantine' }
  if (belongsTo(dock, hostId)) {
    if (dock.generation < generation) return { kind: 'ahead', dock, generation, ip }
    // The disk of an older generation is the one that a recovery, which has not come through yet, boots from.
    return state === 'stopped' || state === 'dead' ? null : { ...orphan, way: 'end' }
  }
  return { ...orphan, way: hasEnded(dock, generation) ? 'destroy' : 'quarantine' }
}

/** Pure: what an inventory means. `died` tells an unexpected death from an ordered end. */
export function judgeInventory(input: {
  hostId: string
  runtimes: readonly RuntimeReport[]
  expected: readonly Expected[]
  /** Docks that the host is ordered to destroy, each with the newest generation that goes. */
  ordered?: ReadonlyMap<string, number>
  rebooted: boolean
  now: Date
}): InventoryFinding[] {
  const expected = new Map(input.expected.map((dock) => [dock.id, dock]))
  const reported = new Map(input.runtimes.map((runtime) => [runtime.dockId, runtime]))
  const findings: InventoryFinding[] = []
  for (const runtime of input.runtimes) {
    // Generation 0 is the warm pool, the agent's own.
    if (runtime.generation === 0) continue
    const dock = expected.get(runtime.dockId)
    if (dock?.busy) continue
    if (dock && belongsTo(dock, input.hostId) && dock.generation === runtime.generation) continue
    const finding = judgeOrphan(input.hostId, dock, runtime, input.ordered?.get(runtime.dockId) ?? 0)
    if (finding) findings.push(finding)
  }
  for (const dock of input.expected) {
    if (dock.hostId !== input.hostId) continue
    const state = dock.state as DockState
    // A stop may yet be refused.
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
    // An end reported of this very generation is certain; an absence may be a report older than the Dock's start.
    const reportedEnd = runtime?.generation === dock.generation
    // What holds it knows better what an absence means.
    if (dock.busy && !reportedEnd) continue
    const settling = input.now.getTime() - dock.stateChangedAt.getTime() < settleMs
    if (settling && !reportedEnd && !input.rebooted) continue
    const ended = runtime?.ended ?? (runtime?.state === 'dead' ? 'died' : 'ordered')
    findings.push({ kind: 'lost', dock, died: ended === 'died' && !input.rebooted })
  }
  return findings
}
