/** Events without a caller: time passes, the host goes silent or returns, sandboxes die, processes are replaced. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { declareLost, resumeDock, stopDock } from '../../../apps/control-plane/src/modules/docks/index.ts'
import { type Command, command } from './command.ts'
import {
  type MemorySystem,
  passInSilence,
  replaceProcess,
  report,
  settle,
  tickTimers,
} from './memory-system.ts'
import { archive, boot, die, hearHost, isReady, loseHost, type Model, type ModelDock, tick } from './model.ts'

const pass = (seconds: number): Command<MemorySystem> =>
  command<MemorySystem>({
    name: `pass ${seconds} s`,
    run: async (model, system) => {
      model.now += seconds
      if (model.online) {
        system.world.clock.advance(seconds * 1000)
        await report(system)
        hearHost(model)
      } else await passInSilence(system, seconds)
      await tickTimers(system)
      tick(model)
    },
  })

const setOnline = (online: boolean): Command<MemorySystem> =>
  command<MemorySystem>({
    name: online ? 'the host is back' : 'the host falls silent',
    check: (model) => model.online !== online,
    run: async (model, system) => {
      model.online = online
      system.world.host.online = online
    },
  })

const declare = (): Command<MemorySystem> =>
  command<MemorySystem>({
    name: 'the host is declared lost',
    check: (model) => model.offline && !model.online,
    run: async (model, system) => {
      await declareLost(system.world, system.world.hostId, { kind: 'operator' })
      await settle(system)
      loseHost(model)
    },
  })

const kill = (body: { index: number }): Command<MemorySystem> =>
  command<MemorySystem>({
    name: `kill the sandbox of ${body.index}`,
    check: (model) => model.online && model.docks.some((dock) => isReady(dock)),
    run: async (model, system) => {
      const live = model.docks.filter((dock) => isReady(dock))
      const dock = live[body.index % live.length]!
      const { host, hostId } = system.world
      const sandbox = host.sandboxes.get(dock.id)!
      host.sandboxes.set(dock.id, { ...sandbox, state: 'dead' })
      const died = { type: 'dock.died', dockId: dock.id, generation: dock.generation } as const
      await system.modules.hostEvents.handle(hostId, died)
      await settle(system)
      die(model, dock)
    },
  })

const restart = (): Command<MemorySystem> =>
  command<MemorySystem>({
    name: 'another process takes over',
    run: async (model, system) => {
      await replaceProcess(system)
      model.processAt = model.now
      for (const dock of model.docks) dock.used = false
    },
  })

/** The process freezes during an operation until its lease expires, and continues after another process took over. */
const freeze = (body: { index: number; what: 'stop' | 'resume' }): Command<MemorySystem> => {
  const fits = (model: Model): ModelDock[] =>
    model.docks.filter((dock) =>
      dock.pending !== null
        ? false
        : body.what === 'stop'
          ? isReady(dock)
          : dock.state === 'archived' && dock.snapshots > 0,
    )
  return command<MemorySystem>({
    name: `freeze in a ${body.what} of ${body.index}`,
    check: (model) => model.online && fits(model).length > 0,
    run: async (model, system) => {
      const candidates = fits(model)
      const dock = candidates[body.index % candidates.length]!
      const frozen = system.modules
      const method = body.what === 'stop' ? 'stop' : 'start'
      const calls = () => callsOf(system, method, dock.id)
      const { host, clock } = system.world
      const { promise, resolve } = Promise.withResolvers<void>()
      const before = calls()
      host.gate.set(method, promise)
      const { context } = frozen
      const answer =
        body.what === 'stop'
          ? stopDock(context, system.caller, dock.id, { force: false })
          : resumeDock(context, system.caller, dock.id, {})
      const ended = Promise.allSettled([answer])
      await expect.poll(calls, { timeout: 20_000 }).toBe(before + 1)
      await replaceProcess(system)
      await system.modules.runner.sweep()
      expect(calls()).toBe(before + 1)
      model.now += 16
      clock.advance(16_000)
      await system.modules.runner.sweep()
      await expect.poll(calls, { timeout: 20_000 }).toBe(before + 2)
      host.gate.delete(method)
      resolve()
      await ended
      await frozen.runner.settled()
      await settle(system)
      // The frozen process's timers did not run either.
      model.processAt = model.now
      for (const each of model.docks) each.used = false
      if (body.what === 'stop') archive(model, dock, false)
      else boot(model, dock)
    },
  })
}

const callsOf = ({ world }: MemorySystem, method: string, dockId: string): number =>
  world.host.calls.filter((call) => call.method === method && call.dockId === dockId).length

const index = fc.nat({ max: 5 })

export const worldEvents: fc.Arbitrary<Command<MemorySystem>>[] = [
  fc.constantFrom(1, 20, 45, 400, 1000, 90_000).map(pass),
  fc.constant(false).map(setOnline),
  fc.constant(true).map(setOnline),
  fc.constant(true).map(setOnline),
  fc.record({ index }).map(kill),
  fc.record({ index }).map(kill),
  fc.constant(undefined).map(restart),
  fc.constant(undefined).map(declare),
  fc.record({ index, what: fc.constantFrom('stop' as const, 'resume' as const) }).map(freeze),
]
