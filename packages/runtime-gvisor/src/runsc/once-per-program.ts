import { identityOf } from './program-identity.ts'

/** Returns a function that calls `read` once, and again after the program at `path` was replaced or `read` failed. */
export function oncePerProgram<T>(path: string, read: () => Promise<T>): () => Promise<T> {
  let last: { identity: string; value: Promise<T> } | undefined
  return async () => {
    const identity = identityOf(path)
    if (last?.identity === identity) return last.value
    const value = read()
    last = { identity, value }
    value.catch(() => {
      if (last?.value === value) last = undefined
    })
    return value
  }
}
