/** A program of ours that is started again whenever it ends, as a supervisor does. */
import { type ChildProcess, spawn } from 'node:child_process'
import { openSync } from 'node:fs'

const pauseMs = 100

export type KeptProcess = {
  /** SIGKILL; it is started again at once. */
  kill(): void
  /** How often it has ended so far. */
  deaths(): number
  /** Ends it for good. */
  end(): Promise<void>
}

/** Runs the command with these variables besides the process's own; what it prints goes to the file. */
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
