import { describe, expect, it } from 'vitest'
import { disagreements, type Found, type Recorded } from './scan.ts'

const [running, kept, archived, pooled] = ['run', 'kept', 'arch', 'pool']

/** One Dock that runs, one in error with its disk, one archived with a Snapshot, one of the warm pool. */
const whole = (): { recorded: Recorded; found: Found } => ({
  recorded: {
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
    sandboxes: [`${running}/3`, `${pooled}/0`],
    gofers: [`${running}/3`, `${pooled}/0`],
    groups: [`${running}/3`, `${pooled}/0`],
    states: [`${running}/3`, `${pooled}/0`],
    bundles: [`${running}/3`, `${pooled}/0`],
    namespaces: [running, pooled],
    interfaces: [running, pooled],
    mounts: [running, pooled],
    loops: [running, pooled],
    disks: [running, pooled, kept],
    captures: ['snap'],
    halfMade: [],
  },
})

describe('the scanner', () => {
  it('finds nothing where machine and database agree', () => {
    const { recorded, found } = whole()
    expect(disagreements(recorded, found)).toEqual([])
  })

  it.each(Object.keys(whole().found) as (keyof Found)[])('sees what is left over of %s', (part) => {
    const { recorded, found } = whole()
    found[part].push('stray/7')
    expect(disagreements(recorded, found)).not.toEqual([])
  })

  it.each((Object.keys(whole().found) as (keyof Found)[]).filter((part) => part !== 'halfMade'))(
    'sees what is missing of %s',
    (part) => {
      const { recorded, found } = whole()
      found[part].shift()
      expect(disagreements(recorded, found)).not.toEqual([])
    },
  )

  it('sees two sandboxes of one Dock, and one of an old generation', () => {
    const { recorded, found } = whole()
    found.sandboxes.push(`${running}/2`)
    expect(disagreements(recorded, found)).toEqual([`sandbox ${running}/2 is left over`])
    const doubled = whole()
    doubled.found.sandboxes.push(`${running}/3`)
    expect(disagreements(doubled.recorded, doubled.found)).toEqual([`sandbox ${running}/3 is there twice`])
  })

  it('sees what has not come to an end, and a wrong count', () => {
    const unsettled = (change: (recorded: Recorded) => void): string[] => {
      const { recorded, found } = whole()
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
