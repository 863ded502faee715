/**
 * The part of Vitest that the SDK's tests use, for runtimes in which Vitest does not run. `script/prove sdk` bundles the
 * tests with this instead of Vitest.
 */
import { isDeepStrictEqual } from 'node:util'

type Work = (...given: never[]) => unknown
type Hook = () => unknown
const tests: { name: string; work: () => unknown }[] = []
const hooks = {
  beforeAll: [] as Hook[],
  afterAll: [] as Hook[],
  beforeEach: [] as Hook[],
  afterEach: [] as Hook[],
}
let finished: Hook[] = []

/** Declares a test. */
export function it(name: string, work: Work): void {
  tests.push({ name, work: work as Hook })
}
it.each =
  <T>(rows: readonly T[]) =>
  (name: string, work: (...given: never[]) => unknown): void => {
    for (const row of rows) {
      const given = (Array.isArray(row) ? row : [row]) as never[]
      tests.push({ name: name.replace('%s', String(given[0])), work: () => work(...given) })
    }
  }
export const test: typeof it = it

const hook =
  (when: keyof typeof hooks) =>
  (work: Hook): void =>
    void hooks[when].push(work)
export const beforeAll: (work: Hook) => void = hook('beforeAll')
export const afterAll: (work: Hook) => void = hook('afterAll')
export const beforeEach: (work: Hook) => void = hook('beforeEach')
export const afterEach: (work: Hook) => void = hook('afterEach')
/** Runs `work` after the test. */
export function onTestFinished(work: Hook): void {
  finished.push(work)
}

/** Types are compared by the compiler only. */
export function expectTypeOf(): unknown {
  return new Proxy(() => undefined, { get: () => () => undefined })
}

const plain = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value
  const known = Object.entries(value).filter(([, each]) => each !== undefined)
  return Object.fromEntries(known.map(([key, each]) => [key, plain(each)]))
}

const contains = (actual: unknown, wanted: unknown): boolean =>
  typeof wanted === 'object' && wanted !== null && !Array.isArray(wanted)
    ? Object.entries(wanted).every(([key, each]) =>
        contains((actual as Record<string, unknown>)?.[key], each),
      )
    : isDeepStrictEqual(plain(actual), plain(wanted))

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

type Class = new (...given: never[]) => unknown

const checks = {
  toBe: (actual: unknown, wanted: unknown) => Object.is(actual, wanted),
  toEqual: (actual: unknown, wanted: unknown) => isDeepStrictEqual(plain(actual), plain(wanted)),
  toMatchObject: contains,
  toMatch: (actual: unknown, wanted: unknown) => (wanted as RegExp).test(String(actual)),
  toHaveLength: (actual: unknown, wanted: unknown) => (actual as unknown[]).length === wanted,
  toContain: (actual: unknown, wanted: unknown) => (actual as unknown[]).includes(wanted),
  toBeInstanceOf: (actual: unknown, wanted: unknown) => actual instanceof (wanted as Class),
  toBeGreaterThanOrEqual: (actual: unknown, wanted: unknown) => Number(actual) >= Number(wanted),
  toThrow: (actual: unknown, wanted: unknown) =>
    wanted === undefined ||
    (typeof wanted === 'string' ? messageOf(actual).includes(wanted) : actual instanceof (wanted as Class)),
}
type Check = keyof typeof checks

const fail = (check: Check, actual: unknown, wanted: unknown): never => {
  const shown = actual instanceof Error ? `${actual.name}: ${actual.message}` : JSON.stringify(actual)
  throw new Error(`expected ${shown} ${check} ${String(JSON.stringify(wanted))}`)
}

const matchers = (actual: unknown, isNegated = false): Record<Check, (wanted?: unknown) => void> => {
  const all = {} as Record<Check, (wanted?: unknown) => void>
  for (const check of Object.keys(checks) as Check[])
    all[check] = (wanted) => {
      let value = actual
      if (check === 'toThrow' && typeof actual === 'function') {
        try {
          actual()
          return fail(check, 'a function that returned', wanted)
        } catch (error) {
          value = error
        }
      }
      if (checks[check](value, wanted) === isNegated) fail(check, value, wanted)
    }
  return all
}

const waitMs = 20_000

const eventually = (read: () => unknown): Record<string, (wanted: unknown) => Promise<void>> =>
  Object.fromEntries(
    (Object.keys(checks) as Check[]).map((check) => [
      check,
      async (wanted: unknown) => {
        for (const end = Date.now() + waitMs; ; ) {
          const actual = await read()
          if (checks[check](actual, wanted)) return
          if (Date.now() > end) fail(check, actual, wanted)
          await new Promise((resolve) => setTimeout(resolve, 20))
        }
      },
    ]),
  )

const rejection = (promise: Promise<unknown>): Record<string, (wanted: unknown) => Promise<void>> =>
  Object.fromEntries(
    (Object.keys(checks) as Check[]).map((check) => [
      check,
      async (wanted: unknown) => {
        const outcome = await promise.then(
          (value) => ({ value }),
          (error: unknown) => ({ error }),
        )
        if (!('error' in outcome)) return fail(check, 'a promise that resolved', wanted)
        matchers(outcome.error)[check](wanted)
      },
    ]),
  )

/** Compares a value. */
export function expect(actual: unknown): object {
  return { ...matchers(actual), not: matchers(actual, true), rejects: rejection(actual as Promise<unknown>) }
}
expect.poll = eventually

/** Runs all tests. Returns the names of those that passed, and the failures of the others. */
export async function runTests(): Promise<{ passed: string[]; failed: Record<string, string> }> {
  const passed: string[] = []
  const failed: Record<string, string> = {}
  const all = async (works: readonly Hook[]): Promise<void> => {
    for (const work of works) await work()
  }
  await all(hooks.beforeAll)
  for (const { name, work } of tests) {
    try {
      finished = []
      await all(hooks.beforeEach)
      await work()
      passed.push(name)
    } catch (error) {
      failed[name] = error instanceof Error ? `${error.message}\n${error.stack}` : String(error)
    } finally {
      await all(hooks.afterEach)
      await all(finished)
    }
  }
  await all(hooks.afterAll)
  return { passed, failed }
}
