/** Connections that the control plane has not taken yet: the limit for all, and the share of each Dock. */

import { Socket } from 'node:net'
import { Emitter } from '@dock/foundation'
import { createVirtualClock } from '@dock/testkit/src/virtual-clock.ts'
import { expect, it } from 'vitest'
import type { DockEvents } from '../../sandboxes/dock-events.ts'
import { WaitingConnections } from './waiting-connections.ts'

it('keeps a few connections of each Dock, however many of other Docks wait', async () => {
  const events: DockEvents = new Emitter()
  const waiting = new WaitingConnections({ events, clock: createVirtualClock() })
  let told = 0
  events.listen(() => {
    told += 1
  })
  /** Adds `count` connections and returns how many of them are kept. */
  const add = (count: number, dockId: string): number => {
    const sockets = Array.from({ length: count }, () => new Socket())
    for (const socket of sockets) waiting.add({ dockId, generation: 1 }, socket)
    return sockets.filter((socket) => !socket.destroyed).length
  }
  for (let dock = 0; dock < 31; dock++) expect(add(32, `greedy ${dock}`)).toBe(32)
  expect(add(32, 'greedy 31')).toBe(8)
  expect(add(5, 'modest')).toBe(4)
  expect(told).toBe(1004)
})
