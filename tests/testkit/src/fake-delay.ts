/**
 * How long calls of the fake runtime and of the fake disk pool take: no time, unless `script/prove slow-calls` says so. It
 * does so before Vitest loads this module a second time, so the two share a global.
 */
const key = Symbol.for('dock.fake-delay')
const shared = globalThis as { [key]?: () => Promise<void> }

/** Returns a promise to wait for, or undefined if the call takes no time. */
export function fakeDelay(): Promise<void> | undefined {
  return shared[key]?.()
}

/** Makes each later call of a fake wait for the promise that `wait` returns. */
export function setFakeDelay(wait: () => Promise<void>): void {
  shared[key] = wait
}
