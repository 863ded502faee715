/** A step that somebody, or the world, takes: allowed in some models, done to both, compared in between. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { checkInvariants } from './invariants.ts'
import { hearHost, type Model } from './model.ts'
import { report, type System, settle } from './system.ts'

/** Mostly nothing, now and then one of these. */
export const seldom = <Value>(...values: Value[]): fc.Arbitrary<Value | null> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.constantFrom(...values) })

export type Command = fc.AsyncCommand<Model, System>

/** Ways in which a host fails one command; null for none. */
export type Failure = 'failed' | 'lost' | 'lost-after' | null

/** `run` does the step to the real thing and to the model; afterwards all must agree, also once the host has reported. */
export const command = (options: {
  name: string
  check?: (model: Readonly<Model>) => boolean
  run: (model: Model, system: System) => Promise<void>
}): Command => ({
  check: options.check ?? (() => true),
  run: async (model, system) => {
    await options.run(model, system)
    system.world.host.failures.clear()
    if (model.online) {
      await report(system)
      hearHost(model)
    } else await settle(system)
    await checkInvariants(system, model)
  },
  toString: () => options.name,
})

/** Compares what a caller was answered. */
export const answered = (name: string, actual: unknown, expected: unknown): void => {
  expect([name, actual]).toEqual([name, expected])
}

export const failNext = (
  { world }: System,
  method: Parameters<System['world']['host']['failures']['set']>[0],
  failure: Failure,
): void => {
  if (failure) world.host.failures.set(method, [failure])
}
