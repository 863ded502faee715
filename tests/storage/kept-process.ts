/** A program that is restarted whenever it ends, like under a supervisor. */
import { type ChildProcess, spawn } from 'node:child_process'
import { openSync } from 'node:fs'

const pauseMs = 100

export type KeptProcess = {
  /** Kills the process with SIGKILL. It restarts immediately. */
  kill(): void
  /** Returns how often the process has ended. */
  deaths(): number
  /** Kills the process without a restart. */
  end(): Promise<void>
}

/** Runs the command with `environment` added to this process's environment. Its output goes to the file. */
export function keepProcess(
  command: readonly [string, ...string[]],
  environment: Record<string, string>,
  logFile: string,
): KeptProcess {
  const log = openSync(logFile, 'a')
  let deaths = 0
  let ended = false
  let child: ChildProcess
  let gone: Promise<void>
  const start = (): void => {
    const [program, ...args] = command
    child = spawn(program, args, {
      env: { ...process.env, ...environment },
      stdio: ['ignore', log, log],
    })
    gone = new Promise((resolve) => {
      child.once('exit', () => {
        deaths += 1
        resolve()
        if (!ended) setTimeout(() => ended || start(), pauseMs)
      })
    })
  }
  start()
  return {
    kill: () => void child.kill('SIGKILL'),
    deaths: () => deaths,
    end: async () => {
      ended = true
      child.kill('SIGKILL')
      await gone
    },
  }
}
