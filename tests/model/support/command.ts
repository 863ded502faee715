/** A step that somebody, or the world, takes: allowed in some models, done to both, compared in between. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { checkInvariants } from './invariants.ts'
import { hearHost, type Model } from './model.ts'
import type { Failure, HostCommand, System } from './system.ts'

/** Mostly nothing, now and then one of these. */
export function seldom<Value>(...values: Value[]): fc.Arbitrary<Value | null> {
  return fc.oneof(
    { weight: 4, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom(...values) },
  )
}

export type Command<Real extends System = System> = fc.AsyncCommand<Model, Real>

/** `run` does the step to the real thing and to the model; afterwards all must agree, also once the host has reported. */
export function command<Real extends System>(options: {
  name: string
  check?: (model: Readonly<Model>) => boolean
  run: (model: Model, system: Real) => Promise<void>
}): Command<Real> {
  return {
    check: options.check ?? (() => true),
    run: async (model, system) => {
      await options.run(model, system)
      await system.settle(model.online)
      if (model.online) hearHost(model)
      await checkInvariants(system, model)
    },
    toString: () => options.name,
  }
}

/** Compares what a caller was answered. */
export function answered(name: string, actual: unknown, expected: unknown): void {
  expect([name, actual]).toEqual([name, expected])
}

export function failNext(system: System, command: HostCommand, failure: Failure): void {
  if (failure) system.failNext(command, failure)
}
