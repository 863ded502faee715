/**
 * Freezing a filesystem, making or ending a mount, a network or a program of many threads waits for read-copy-update
 * grace periods of the kernel: 10 to 40 ms each, or one when it is told to hurry. A sandbox's start waits for seven, one
 * after the other. The switch is one for the whole machine, so its users are counted and it is off when there is none.
 */
import { writeFileSync } from 'node:fs'

const switchPath = '/sys/kernel/rcu_expedited'
let users = 0

const set = (value: '0' | '1'): void => {
  try {
    writeFileSync(switchPath, value)
  } catch {
    // A kernel without the switch only takes longer.
  }
}

/** Runs `work` with short grace periods. */
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

/** Turns the switch off after a process died with it on. */
export function resetRcuExpedited(): void {
  if (users === 0) set('0')
}

/** The part with short grace periods during each call of these methods. */
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
