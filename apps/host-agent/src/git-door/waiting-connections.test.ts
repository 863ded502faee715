/** Connections that the control plane has not taken: what many of some Docks leave for others. */
import { Socket } from 'node:net'
import { createManualClock } from '@dock/testkit/src/host-agent/manual-clock.ts'
import { expect, it } from 'vitest'
import type { DockEvents } from '../docks/dock-events.ts'
import { Emitter } from '../docks/emitter.ts'
import { WaitingConnections } from './waiting-connections.ts'

it('keeps a few of each Dock, however many of others wait', async () => {
  const events: DockEvents = new Emitter()
  const waiting = new WaitingConnections({ events, clock: createManualClock() })
  let told = 0
  events.listen(() => {
    told += 1
  })
  /** How many of so many more are kept. */
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
