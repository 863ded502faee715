/** Fault points before and after the calls of a part, for crash tests. */
import { faultPoint, faultsArmed } from './fault-point.ts'

type Method = (...args: never[]) => Promise<unknown>

/**
 * Returns `part` with a fault point before and after each call of `methods`; `nameOf` names the point. Without
 * `DOCK_FAULTS` it returns `part` itself.
 */
export function withFaultSteps<Part extends object>(
  part: Part,
  methods: readonly (keyof Part & string)[],
  nameOf: (method: string, args: readonly unknown[]) => string,
): Part {
  if (!faultsArmed) return part
  return new Proxy(part, {
    get: (target, property) => {
      const value: unknown = Reflect.get(target, property)
      if (typeof value !== 'function') return value
      const call = value.bind(target) as Method
      if (!methods.includes(property as keyof Part & string)) return call
      return async (...args: never[]) => {
        const name = nameOf(String(property), args)
        faultPoint(`${name}:before`)
        const result = await call(...args)
        faultPoint(`${name}:after`)
        return result
      }
    },
  })
}
