import { expect, test } from 'vitest'
import { readEvent } from './read-event.ts'

const heartbeat = { type: 'heartbeat', pressure: { memAvailableBytes: 1, diskFreeBytes: 2 }, running: 3 }
const read = (event: unknown) => readEvent(JSON.stringify(event))

test('fields that a newer agent adds are ignored', () => {
  expect(read(heartbeat)).toEqual(heartbeat)
  const newer = { ...heartbeat, load: 4, pressure: { ...heartbeat.pressure, swapFreeBytes: 5 } }
  expect(read(newer)).toEqual(heartbeat)
})

test('an event that a newer agent adds is told from one that is broken', () => {
  expect(read({ type: 'disk.moved', dockId: 1 })).toEqual({ unknownType: 'disk.moved' })
  expect(read({ type: 'toString' })).toEqual({ unknownType: 'toString' })
  const broken = [
    { ...heartbeat, running: -1 },
    {},
    [],
    null,
    'heartbeat',
    { type: 1 },
    { type: 'x'.repeat(101) },
  ]
  expect(broken.map(read)).toEqual(broken.map(() => null))
  expect(readEvent('{"type":"heartbeat"')).toBeNull()
})
