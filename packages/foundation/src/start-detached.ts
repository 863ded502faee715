/** Starts a program that outlives this process. */
import { spawn } from 'node:child_process'
import { get } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

const startMs = 20_000
const pollMs = 10

export type DetachedProgram = {
  /** For errors, as in "the process keeper". */
  name: string
  /** The file that Node runs, and its arguments. */
  file: string
  args: readonly string[]
  /** Unix socket on which it serves HTTP. It is up once it answers `GET /`. */
  socketPath: string
}

/** Returns true if a request to a Unix socket failed because no program serves it. */
export function isUnserved(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ECONNREFUSED')
  )
}

/** Returns true once the program serves requests. */
const isServed = (socketPath: string): Promise<boolean> =>
  new Promise((resolve, reject) => {
    get({ socketPath, path: '/', agent: false }, (response) => {
      response.resume()
      resolve(true)
    }).on('error', (error) => (isUnserved(error) ? resolve(false) : reject(error)))
  })

/** Runs a program in a session of its own, so that signals for this process's group do not reach it. Resolves once it is up. */
export async function startDetached({ name, file, args, socketPath }: DetachedProgram): Promise<void> {
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
  while (!(await isServed(socketPath))) {
    if (ended !== undefined) throw new Error(`${name} ended at its start: ${ended}`)
    if (performance.now() > deadline) throw new Error(`${name} did not start in ${startMs} ms`)
    await delay(pollMs)
  }
}
