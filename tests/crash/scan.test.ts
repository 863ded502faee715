import { describe, expect, it } from 'vitest'
import { disagreements, type Found, type Recorded } from './scan.ts'

const [running, kept, archived, warm] = ['run', 'kept', 'arch', 'pool']
const blank = `blank-${'0'.repeat(32)}`

/**
 * A consistent state: a running Dock, one in error with its disk, one archived with a Snapshot, one in the warm pool,
 * a blank sandbox.
 */
const consistentState = (): { recorded: Recorded; found: Found } => ({
  recorded: {
    runtime: 'gvisor',
    docks: [
      { id: running, name: 'a', state: 'ready', generation: 3, hasDisk: true },
      { id: kept, name: 'b', state: 'error', generation: 1, hasDisk: true },
      { id: archived, name: 'c', state: 'archived', generation: 1, hasDisk: false },
    ],
    snapshots: [{ id: 'snap', dockId: archived, status: 'completed' }],
    open: [],
    slots: 1,
    placed: 1,
    everyDock: [running, kept, archived],
  },
  found: {
    sandboxes: [`${running}/3`, `${warm}/0`, blank],
    gofers: [`${running}/3`, `${warm}/0`, blank],
    groups: [`${running}/3`, `${warm}/0`, blank],
    states: [`${running}/3`, `${warm}/0`, blank],
    bundles: [`${running}/3`, `${warm}/0`, blank],
    namespaces: [running, warm],
    reserved: ['interface'],
    interfaces: [running, warm],
    mounts: [running, warm],
    loops: [running, warm],
    disks: [running, warm, kept],
    captures: ['snap'],
    halfMade: [],
  },
})

describe('the scanner', () => {
  it('reports nothing if machine and database agree', () => {
    const { recorded, found } = consistentState()
    expect(disagreements(recorded, found)).toEqual([])
  })

  it.each(Object.keys(consistentState().found) as (keyof Found)[])('reports a leftover in %s', (part) => {
    const { recorded, found } = consistentState()
    found[part].push('stray/7')
    expect(disagreements(recorded, found)).not.toEqual([])
  })

  it.each((Object.keys(consistentState().found) as (keyof Found)[]).filter((part) => part !== 'halfMade'))(
    'reports a missing item in %s',
    (part) => {
      const { recorded, found } = consistentState()
      found[part].shift()
      expect(disagreements(recorded, found)).not.toEqual([])
    },
  )

  it.each(['gofers', 'groups', 'states', 'bundles'] as const)(
    'reports a blank sandbox without %s',
    (part) => {
      const { recorded, found } = consistentState()
      found[part].pop()
      expect(disagreements(recorded, found)).not.toEqual([])
    },
  )

  it('reports a blank sandbox of a dead agent', () => {
    const { recorded, found } = consistentState()
    for (const part of ['sandboxes', 'gofers', 'groups', 'states', 'bundles'] as const)
      found[part].splice(-1, 1, `${blank} of a dead agent`)
    expect(disagreements(recorded, found)).toContain(`sandbox ${blank} of a dead agent is left over`)
  })

  it('wants no mounts and no files of runsc on a host of microVMs', () => {
    const { recorded, found } = consistentState()
    const machines = { ...found, states: [], mounts: [], loops: [] }
    expect(disagreements({ ...recorded, runtime: 'microvm' }, machines)).toEqual([])
    expect(disagreements({ ...recorded, runtime: 'microvm' }, found)).toContain(
      `mount of ${running} is left over`,
    )
  })

  it('reports a second sandbox of a Dock, and one of an old generation', () => {
    const { recorded, found } = consistentState()
    found.sandboxes.push(`${running}/2`)
    expect(disagreements(recorded, found)).toEqual([`sandbox ${running}/2 is left over`])
    const doubled = consistentState()
    doubled.found.sandboxes.push(`${running}/3`)
    expect(disagreements(doubled.recorded, doubled.found)).toEqual([`sandbox ${running}/3 is there twice`])
  })

  it('reports unfinished work and wrong counts', () => {
    const unsettled = (change: (recorded: Recorded) => void): string[] => {
      const { recorded, found } = consistentState()
      change(recorded)
      return disagreements(recorded, found)
    }
    const operation = { id: 'op', kind: 'stop', status: 'blocked', dockId: running }
    expect(unsettled((recorded) => recorded.open.push(operation))).toHaveLength(1)
    expect(
      unsettled((recorded) => recorded.snapshots.push({ id: 's', dockId: kept, status: 'saving' })),
    ).toHaveLength(1)
    expect(
      unsettled((recorded) => {
        recorded.slots = 2
      }),
    ).toHaveLength(1)
    expect(
      unsettled((recorded) => {
        recorded.docks[2]!.state = 'archiving'
      }),
    ).toHaveLength(1)
  })
})
