/** Starts a program that outlives this process. */
import { spawn } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'

const startMs = 20_000
const pollMs = 10

export type DetachedProgram = {
  /** For errors, as in "the process keeper". */
  name: string
  /** The file that Node runs, and its arguments. */
  file: string
  args: readonly string[]
  /** Returns true once the program serves requests. An error fails the start. */
  isUp: () => Promise<boolean>
}

/** Runs a program in a session of its own, so that signals for this process's group do not reach it. Resolves once it is up. */
export async function startDetached({ name, file, args, isUp }: DetachedProgram): Promise<void> {
  const child = spawn(process.execPath, ['--max-semi-space-size=2', '--enable-source-maps', file, ...args], {
    detached: true,
    cwd: '/',
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  let ended: string | undefined
  child.once('error', (error) => {
    ended = error.message
  })
  child.once('exit', (code, signal) => {
    ended = `exit code ${code ?? signal}`
  })
  child.unref()
  const deadline = performance.now() + startMs
  while (!(await isUp())) {
    if (ended !== undefined) throw new Error(`${name} ended at its start: ${ended}`)
    if (performance.now() > deadline) throw new Error(`${name} did not start in ${startMs} ms`)
    await delay(pollMs)
  }
}
