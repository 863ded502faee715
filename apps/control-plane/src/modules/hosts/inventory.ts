/**
 * Compares what a host reports with what is recorded. A silent host is unknown, not empty: nothing here starts a Dock
 * elsewhere. A runtime that no current generation owns is fenced; a recorded one that is gone boots again from its own
 * disk on the same host.
 */
import { type DockState, isReadyDockState } from '@dock/contract'
import type { RuntimeReport } from '@dock/host-protocol'
import type { ExpectedDock } from './host-store.ts'

/** A Dock that changed this recently may not be in a report that was on its way. */
const settleMs = 5_000

export type InventoryFinding =
  /** `keepsDisk`: the Dock's only disk is there, so that the runtime ends and the disk stays. */
  | { kind: 'orphan'; dockId: string; generation: number; state: string; keepsDisk: boolean }
  | { kind: 'back'; dock: ExpectedDock }
  | { kind: 'lost'; dock: ExpectedDock; died: boolean }

/** Pure: what an inventory means. `died` tells an unexpected death from an ordered end. */
export const judgeInventory = (input: {
  hostId: string
  runtimes: readonly RuntimeReport[]
  expected: readonly (ExpectedDock & { hostId: string | null })[]
  rebooted: boolean
  now: Date
}): InventoryFinding[] => {
  const expected = new Map(input.expected.map((dock) => [dock.id, dock]))
  const reported = new Map(input.runtimes.map((runtime) => [runtime.dockId, runtime]))
  const findings: InventoryFinding[] = []
  for (const runtime of input.runtimes) {
    // Generation 0 is the warm pool, the agent's own.
    if (runtime.generation === 0) continue
    const dock = expected.get(runtime.dockId)
    if (dock?.busy) continue
    const belongs =
      dock !== undefined &&
      dock.hostId === input.hostId &&
      dock.state !== 'archived' &&
      (dock.hasDisk || dock.state !== 'error')
    if (belongs && dock.generation === runtime.generation) continue
    const { dockId, generation, state } = runtime
    const keepsDisk = belongs && dock.generation > generation
    // The disk of an older generation is the one that a recovery, which has not come through yet, boots from.
    if (keepsDisk && (state === 'stopped' || state === 'dead')) continue
    findings.push({ kind: 'orphan', dockId, generation, state, keepsDisk })
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
