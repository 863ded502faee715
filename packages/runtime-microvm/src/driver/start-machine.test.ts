/** Tests whose fault a failed start is: that of the template, or of the disk. The machines are simulated. */
import { createLogger, newUuid } from '@dock/foundation'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { calls, types } from '../link/protocol.ts'
import { words } from '../link/testing/fake-guest.ts'
import type { Machines } from '../machine/open-machines.ts'
import { startMachine } from './start-machine.ts'
import { type FakeMachine, fakeMachine } from './testing/fake-machine.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

type Behaviour = 'starts' | 'hangs' | 'refuses' | 'ends'

/** Lets the guest do this when it gets its configuration. */
const behave = ({ machine, guest }: FakeMachine, behaviour: Behaviour): void => {
  const write = guest.connection._write
  let answered = 0
  guest.connection._write = (chunk, encoding, done) => {
    write.call(guest.connection, chunk, encoding, done)
    for (const frame of guest.heard.slice(answered)) {
      answered += 1
      const { type, stream, channel } = frame
      queueMicrotask(() => {
        if (type === types.open) guest.say(types.opened, 0, channel, words(100))
        if (type !== types.call || stream !== calls.go || behaviour === 'hangs') return
        if (behaviour === 'ends') void machine.kill()
        else guest.say(types.reply, 0, channel, words(behaviour === 'starts' ? 0 : 5))
      })
    }
  }
}

/** The first machine continues from a template, the second one boots. */
const scene = (restored: Behaviour, booted: Behaviour = 'starts') => {
  const [first, second] = [fakeMachine(), fakeMachine()]
  behave(first, restored)
  behave(second, booted)
  const vmm = { launch: vi.fn(async () => second.machine), remove: vi.fn(async () => undefined) }
  const templates = {
    start: vi.fn(async () => ({ machine: first.machine, isRestored: true })),
    discard: vi.fn(async () => undefined),
    make: vi.fn(async () => undefined),
  }
  const starting = startMachine(
    { vmm, templates } as unknown as Machines,
    {
      ...{ dockId: newUuid(), generation: 1, hostname: 'test', cpus: 1, memoryMiB: 512 },
      ...{ disk: { device: import.meta.filename }, netnsPath: '/run/netns/none', nameserver: '192.0.2.1' },
    },
    createLogger('test', { write: () => undefined }),
  )
  starting.catch(() => undefined)
  return { starting, vmm, templates, second }
}

test('a template whose guest takes its configuration is kept', async () => {
  const { starting, templates } = scene('starts')
  await starting
  expect([templates.discard, templates.make].map(({ mock }) => mock.calls.length)).toEqual([0, 0])
})

test('a template whose guest hangs is discarded after the failed start', async () => {
  const { starting, vmm, templates } = scene('hangs')
  await vi.waitFor(() => expect(templates.start).toHaveBeenCalled())
  await vi.advanceTimersByTimeAsync(180_000)
  await expect(starting).rejects.toThrow('was not up within 180 s')
  expect(templates.discard).toHaveBeenCalledWith({ cpus: 1, memoryMiB: 512 })
  expect([vmm.remove, vmm.launch].map(({ mock }) => mock.calls.length)).toEqual([1, 0])
})

test.each(['refuses', 'ends'] as const)(
  'a template whose guest %s is replaced if the machine boots without it',
  async (behaviour) => {
    const { starting, templates, second } = scene(behaviour)
    expect((await starting).machine).toBe(second.machine)
    expect([templates.discard, templates.make].map(({ mock }) => mock.calls.length)).toEqual([1, 1])
  },
)

test('a template is kept if the machine does not start without it either', async () => {
  const { starting, vmm, templates } = scene('refuses', 'refuses')
  await expect(starting).rejects.toThrow(/go failed in the guest/)
  expect([templates.discard, templates.make].map(({ mock }) => mock.calls.length)).toEqual([0, 0])
  expect(vmm.remove).toHaveBeenCalledTimes(2)
})
