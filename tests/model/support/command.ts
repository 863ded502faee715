/** The commands of the model test. Each is applied to the model and to the system, and then the two are compared. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { checkInvariants } from './invariants.ts'
import { hearHost, type Model } from './model.ts'
import type { Failure, HostCommand, System } from './system.ts'

/** Generates null in four of five cases, otherwise one of the values. */
export function seldom<Value>(...values: Value[]): fc.Arbitrary<Value | null> {
  return fc.oneof(
    { weight: 4, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom(...values) },
  )
}

export type Command<Real extends System = System> = fc.AsyncCommand<Model, Real>

/** Creates a command. `run` applies it to the model and the system, which must agree once the host has reported. */
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

/** Compares a response with the expected one. */
export function answered(name: string, actual: unknown, expected: unknown): void {
  expect([name, actual]).toEqual([name, expected])
}

export function failNext(system: System, command: HostCommand, failure: Failure): void {
  if (failure) system.failNext(command, failure)
}
