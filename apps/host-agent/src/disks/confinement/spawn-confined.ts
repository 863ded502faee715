/**
 * Starts a program that reads what a tenant wrote, such as a disk. A tenant who takes the program over has gained nothing: it
 * runs with a user id of its own, no capabilities and none to gain, a short list of system calls without the network, no file
 * of the host but the public ones of /usr, and limits for memory, processor time and file size.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { returnConfinedUser, takeConfinedUser } from './confined-users.ts'
import { type ConfinedLimits, launcherArguments } from './launcher.ts'

/** The path of the file inside the program. */
export const confinedFile = './3'

export type Confinement = {
  /** Descriptor of the file that the program opens as {@link confinedFile}. It inherits no other one. */
  fd: number
  limits: ConfinedLimits
  /** What the program gets as its input, its output and its errors. */
  stdio: readonly ['ignore' | 'pipe', 'pipe', 'ignore' | 'pipe']
  env?: Readonly<Record<string, string>>
  /** Time after which the program is killed. */
  timeoutMs?: number | undefined
}

/** Starts the program. The returned process emits `error` if it cannot be started. */
export function spawnConfined(
  command: readonly [string, ...string[]],
  { fd, limits, stdio, env, timeoutMs }: Confinement,
): ChildProcess {
  const user = takeConfinedUser()
  try {
    const child = spawn('perl', launcherArguments(user, limits, command), {
      stdio: [...stdio, fd],
      env: { PATH: process.env.PATH ?? '/usr/sbin:/usr/bin:/sbin:/bin', ...env },
      ...(timeoutMs ? { timeout: timeoutMs, killSignal: 'SIGKILL' as const } : {}),
    })
    child.once('error', () => child.pid === undefined && returnConfinedUser(user))
    child.once('exit', () => returnConfinedUser(user))
    return child
  } catch (error) {
    returnConfinedUser(user)
    throw error
  }
}
