/** User ids for confined programs. Each running program has its own, so that it cannot trace or signal another one. */
import { randomInt } from 'node:crypto'

/** systemd's list of user ids leaves these unused. They have no names. */
export const confinedUsers = { first: 60_993, last: 61_183 } as const

const count = confinedUsers.last - confinedUsers.first + 1
const used = new Set<number>()
// Not always the first one: an earlier agent's last programs may still be ending.
let next = randomInt(count)

/** Returns an id that no running program of this process has. The caller gives it back. Throws if there is none. */
export function takeConfinedUser(): number {
  for (let tries = 0; tries < count; tries++) {
    const user = confinedUsers.first + next
    next = (next + 1) % count
    if (used.has(user)) continue
    used.add(user)
    return user
  }
  throw new Error(`${count} programs that read disks run already`)
}

/** Gives the id back once the program has ended. */
export function returnConfinedUser(user: number): void {
  used.delete(user)
}
