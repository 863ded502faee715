/**
 * How long calls of fakes take. `script/prove slow-calls` sets the function before Vitest loads the fakes, and thus as a
 * global; otherwise calls take no time.
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
