/**
 * Expedited RCU grace periods. Freezing a filesystem, mounting, unmounting, making a network and ending a program with many
 * threads each wait for RCU grace periods of the kernel: normally 10 to 40 ms each, about 1 ms when expedited. Starting a
 * sandbox waits for seven of them in sequence. The kernel has one switch for the whole machine, so this module counts its
 * users and turns the switch off when there are none.
 */
import { writeFileSync } from 'node:fs'

const switchPath = '/sys/kernel/rcu_expedited'
let users = 0
let isAllowed = true

/** Leaves the kernel's switch alone from now on. */
export function forbidRcuExpedited(): void {
  isAllowed = false
}

const set = (value: '0' | '1'): void => {
  if (!isAllowed) return
  try {
    writeFileSync(switchPath, value)
  } catch {
    // A kernel without the switch works too, only more slowly.
  }
}

/** Runs `work` with expedited grace periods. */
export async function withRcuExpedited<T>(work: () => Promise<T>): Promise<T> {
  users++
  if (users === 1) set('1')
  try {
    return await work()
  } finally {
    users--
    if (users === 0) set('0')
  }
}

/** Turns the switch off in case an earlier process died while it was on. */
export function resetRcuExpedited(): void {
  if (users === 0) set('0')
}

/** Wraps `part` so that calls of `methods` run with expedited grace periods. */
export function withRcuExpeditedIn<Part extends object>(
  part: Part,
  methods: readonly (keyof Part & string)[],
): Part {
  return new Proxy(part, {
    get: (target, property) => {
      const value: unknown = Reflect.get(target, property)
      if (typeof value !== 'function') return value
      const call = value.bind(target) as (...args: never[]) => Promise<unknown>
      if (!methods.includes(property as keyof Part & string)) return call
      return (...args: never[]) => withRcuExpedited(() => call(...args))
    },
  })
}
