/** A machine for tests. Its guest says what the test wants. */
import { FakeGuest } from '../../link/testing/fake-guest.ts'
import type { Machine } from '../../machine/machine.ts'

export type FakeMachine = {
  machine: Machine
  guest: FakeGuest
  /** Orders that the machine got, in their order. */
  orders: string[]
}

/** The guest greets the host when it connects, and answers nothing else. */
export function fakeMachine(id = 'machine'): FakeMachine {
  const guest = new FakeGuest()
  const orders: string[] = []
  const { promise: ended, resolve: end } = Promise.withResolvers<string>()
  const order = (name: string, effect: () => void = () => undefined) => {
    return async () => {
      orders.push(name)
      effect()
    }
  }
  const machine = {
    ...{ id, size: { cpus: 1, memoryMiB: 512 }, network: null, ranOutOfMemory: false, ended },
    dial: () => {
      // The host greets first.
      queueMicrotask(() => guest.welcome())
      return guest.connection
    },
    pause: order('pause'),
    resume: order('resume'),
    kill: order('kill', () => end('killed')),
  }
  return { machine: machine as unknown as Machine, guest, orders }
}
