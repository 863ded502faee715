/** Runs the ssh program of this computer. */
import { spawn } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { constants } from 'node:os'
import type { Environment } from '../program/context.ts'
import { LocalError } from '../program/failures.ts'
import { configFolder } from '../settings/profiles.ts'

/** Returns its exit code. It has the terminal, so it gets the signals of the terminal itself. */
export async function runSsh(env: Environment, args: readonly string[]): Promise<number> {
  await mkdir(configFolder(env), { recursive: true, mode: 0o700 })
  const ignore = (): void => undefined
  process.on('SIGINT', ignore)
  try {
    return await new Promise((resolve, reject) => {
      const child = spawn('ssh', args, { stdio: 'inherit', env: { ...env } })
      const end = (): boolean => child.kill('SIGTERM')
      process.once('SIGTERM', end)
      child.once('error', () =>
        reject(new LocalError('ssh_missing', 'The program ssh is missing. Install an OpenSSH client.')),
      )
      child.once('exit', (code, signal) => {
        process.off('SIGTERM', end)
        resolve(code ?? 128 + (signal ? constants.signals[signal] : 0))
      })
    })
  } finally {
    process.off('SIGINT', ignore)
  }
}
