import { statSync } from 'node:fs'

/** Returns the identity of the program at this path, which differs after an upgrade. */
export function identityOf(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true })
  return `${dev}:${ino}`
}
