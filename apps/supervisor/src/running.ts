/** A running process: started here, or adopted from an earlier supervisor. */
import { spawn } from 'node:child_process'
import { open } from 'node:fs/promises'
import {
  endProcess,
  identify,
  type ProcessIdentity,
  readPidFile,
  removePidFile,
  waitForEnd,
  writePidFile,
} from './process-identity.ts'

export type Running = {
  pid: number
  /** Resolves when the process has ended, with its exit code or null if that is not known. */
  ended: Promise<number | null>
  /** Stops the process gracefully. Resolves when it has ended. Idempotent. */
  stop(): Promise<void>
}

export type Program = {
  command: readonly [string, ...string[]]
  cwd: string
  environment: NodeJS.ProcessEnv
  /** File to which stdout and stderr are appended. */
  logPath: string
  /** Passed to the process as descriptors 3, 4, … */
  descriptors?: readonly number[]
  pidPath: string
  /** The signal for a graceful stop, and how long that may take before SIGKILL. */
  stopSignal: NodeJS.Signals
  stopPatienceMs: number
}

const watchPeriodMs = 250

const runningOf = (program: Program, identity: ProcessIdentity, ended: Promise<number | null>): Running => ({
  pid: identity.pid,
  ended,
  stop: async () => {
    await endProcess(identity, program.stopPatienceMs, program.stopSignal)
    await ended
    await removePidFile(program.pidPath)
  },
})

/** Starts a program in its own session, so that Ctrl-C reaches only the supervisor. Rejects if it cannot start. */
export async function startProgram(program: Program): Promise<Running> {
  const log = await open(program.logPath, 'a', 0o600)
  try {
    const [file, ...args] = program.command
    const child = spawn(file, args, {
      cwd: program.cwd,
      env: program.environment,
      detached: true,
      stdio: ['ignore', log.fd, log.fd, ...(program.descriptors ?? [])],
    })
    const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
    await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject))
    const pid = child.pid!
    const identity = (await identify(pid)) ?? { pid, startTicks: '', boot: '' }
    await writePidFile(program.pidPath, identity)
    return runningOf(program, identity, ended)
  } finally {
    await log.close()
  }
}

/** Returns the program that an earlier supervisor left running, or undefined. */
export async function adoptProgram(program: Program): Promise<Running | undefined> {
  const identity = await readPidFile(program.pidPath)
  if (!identity) return undefined
  const ended = waitForEnd(identity, Number.POSITIVE_INFINITY, watchPeriodMs).then(() => null)
  return runningOf(program, identity, ended)
}
