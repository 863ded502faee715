import type { RuntimeReport } from '@dock/host-protocol'
import { describe, expect, it } from 'vitest'
import { judgeInventory } from './inventory.ts'

const hostId = 'b7b7bd0a-06d5-4a0e-93f3-6d6a1b1f7c01'
const dockId = '0b0b4c4e-6f43-4b54-8f6f-0d6f4d8d5a02'
const now = new Date('2026-01-01T12:00:00Z')
const before = (ms: number): Date => new Date(now.getTime() - ms)

const dock = {
  id: dockId,
  organizationId: '',
  workspaceId: '',
  state: 'ready',
  generation: 3,
  stateChangedAt: before(60_000),
  hasDisk: true,
  busy: false,
  recoveries: [],
  quarantinedUpTo: 0,
  hostId,
}
const runtime: RuntimeReport = { dockId, generation: 3, state: 'running', ip: null }

const judge = (
  docks: readonly (typeof dock)[],
  runtimes: readonly RuntimeReport[],
  rebooted = false,
): (string | [string, boolean])[] =>
  judgeInventory({ hostId, runtimes, expected: docks, rebooted, now }).map((finding) =>
    finding.kind === 'lost' ? ['lost', finding.died] : finding.kind,
  )

describe('an inventory', () => {
  it('has no findings if every Dock runs as recorded', () => {
    expect(judge([dock], [runtime])).toEqual([])
  })

  it('fences runtimes of old generations and unknown runtimes, but never the warm pool', () => {
    expect(judge([dock], [{ ...runtime, generation: 2 }])).toContain('orphan')
    expect(judge([], [runtime])).toEqual(['orphan'])
    expect(judge([], [{ ...runtime, generation: 0 }])).toEqual([])
  })

  it('never destroys the only disk of a Dock together with an old runtime', () => {
    const orphan = (docks: readonly (typeof dock)[], state: RuntimeReport['state']) =>
      judgeInventory({
        hostId,
        runtimes: [{ ...runtime, generation: 2, state }],
        expected: docks,
        rebooted: false,
        now,
      }).find((finding) => finding.kind === 'orphan')
    const lost = { ...dock, state: 'error' }
    expect(orphan([lost], 'running')).toMatchObject({ way: 'end' })
    expect(orphan([lost], 'dead')).toBeUndefined()
    expect(orphan([lost], 'stopped')).toBeUndefined()
    expect(orphan([{ ...lost, hasDisk: false }], 'dead')).toMatchObject({ way: 'destroy' })
    expect(orphan([{ ...dock, state: 'archived' }], 'dead')).toMatchObject({ way: 'destroy' })
    expect(orphan([{ ...dock, hostId: dockId }], 'stopped')).toMatchObject({ way: 'destroy' })
  })

  it('destroys no runtime that the database does not know or knows only in an older generation', () => {
    const way = (docks: readonly (typeof dock)[], generation: number, upTo = 0, start = 0) => {
      const [finding] = judgeInventory({
        hostId,
        runtimes: [{ ...runtime, generation }],
        expected: docks,
        ordered: new Map([[dockId, { upTo, start }]]),
        rebooted: false,
        now,
      })
      return finding?.kind === 'orphan' ? finding.way : finding?.kind
    }
    expect(way([], 3)).toBe('quarantine')
    expect(way([], 3, 3)).toBe('ordered')
    expect(way([], 3, 2)).toBe('quarantine')
    // The order of a failed start names one generation and no older one.
    expect(way([], 3, 0, 3)).toBe('ordered')
    expect(way([], 3, 0, 4)).toBe('quarantine')
    expect(way([{ ...dock, state: 'archived' }], 3)).toBe('destroy')
    expect(way([{ ...dock, state: 'archived' }], 4)).toBe('quarantine')
    expect(way([{ ...dock, state: 'error', hasDisk: false }], 4)).toBe('quarantine')
    expect(way([{ ...dock, hostId: dockId }], 3)).toBe('quarantine')
    // The Dock's own host runs a later generation than the database records.
    expect(way([dock], 4)).toBe('ahead')
    // A restored database may not know a generation that was assigned before the restore.
    expect(way([{ ...dock, state: 'archived', generation: 1_000_001 }], 4)).toBe('quarantine')
    expect(way([{ ...dock, state: 'archived', generation: 1_000_001 }], 1_000_000)).toBe('destroy')
    // The Dock was archived, or got its generation, by an adoption.
    const adopted = { ...dock, state: 'archived', quarantinedUpTo: 3 }
    expect(way([adopted], 3)).toBe('quarantine')
    expect(way([{ ...adopted, generation: 5, hostId: dockId }], 2)).toBe('quarantine')
    expect(way([{ ...adopted, generation: 5, hostId: dockId }], 4)).toBe('destroy')
  })

  it('quarantines a disk of unknown generation, unless its own Dock boots from it or an order removes it', () => {
    const found = (
      docks: readonly (typeof dock)[],
      ordered = new Map<string, { upTo: number; start: number }>(),
    ) =>
      judgeInventory({
        hostId,
        runtimes: [],
        expected: docks,
        ordered,
        rebooted: false,
        now,
        unidentified: [dockId],
      })
    const kept = [{ kind: 'orphan', dockId, generation: 0, state: 'stopped', way: 'quarantine' }]
    expect(found([])).toEqual(kept)
    expect(found([{ ...dock, state: 'archived' }])).toEqual(kept)
    expect(found([{ ...dock, state: 'error', hasDisk: false }])).toEqual(kept)
    expect(found([{ ...dock, hostId: dockId }])).toEqual(kept)
    expect(found([dock])).toEqual([{ kind: 'lost', dock, died: false }])
    expect(found([{ ...dock, state: 'error' }])).toEqual([])
    expect(found([{ ...dock, state: 'archived', busy: true }])).toEqual([])
    expect(found([], new Map([[dockId, { upTo: 3, start: 0 }]]))).toEqual([])
    expect(found([], new Map([[dockId, { upTo: 0, start: 3 }]]))).toEqual(kept)
  })

  it('finds a lost Dock, and distinguishes an unexpected end from a commanded one', () => {
    expect(judge([dock], [])).toEqual([['lost', false]])
    expect(judge([dock], [{ ...runtime, state: 'stopped' }])).toEqual([['lost', false]])
    expect(judge([dock], [{ ...runtime, state: 'dead' }])).toEqual([['lost', true]])
    expect(judge([dock], [{ ...runtime, state: 'dead' }], true)).toEqual([['lost', false]])
  })

  it('ignores that a Dock is missing if it became ready a moment ago', () => {
    expect(judge([{ ...dock, stateChangedAt: before(1_000) }], [])).toEqual([])
  })

  it('accepts a reported end of the current generation at once', () => {
    const young = { ...dock, stateChangedAt: before(1_000) }
    expect(judge([young], [{ ...runtime, state: 'stopped' }])).toEqual([['lost', false]])
  })

  it('ignores a Dock that an operation holds, unless its end is reported', () => {
    expect(judge([{ ...dock, busy: true }], [])).toEqual([])
    expect(judge([{ ...dock, busy: true }], [runtime])).toEqual([])
    expect(judge([{ ...dock, busy: true }], [{ ...runtime, state: 'dead' }])).toEqual([['lost', true]])
    const stopping = { ...dock, state: 'archiving', busy: true }
    expect(judge([stopping], [])).toEqual([])
    expect(judge([stopping], [runtime])).toEqual([])
    expect(judge([stopping], [{ ...runtime, state: 'dead' }])).toEqual([['lost', true]])
  })

  it('brings an unreachable Dock back', () => {
    expect(judge([{ ...dock, state: 'unreachable' }], [runtime])).toEqual(['back'])
  })
})
