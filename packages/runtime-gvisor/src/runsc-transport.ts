/** Commands by `runsc exec`: one host process each, 20 to 30 ms on top of the command. */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { capabilitiesOf, ociCapabilities } from './capabilities.ts'
import type { ExecTransport } from './exec-transport.ts'
import type { Runsc } from './runsc.ts'

/** What `runsc exec` answers when it could not start the command; commands may answer it too. */
const couldNotStart = 128
const killedExitCode = 137

/** The number that a finished start wrote; 0 when the command has not started. */
const pidIn = async (path: string): Promise<number> => {
  const text = await readFile(path, 'utf8').catch(() => '')
  return Number.parseInt(text, 10) || 0
}

/** `requestDir` holds each command's request while it runs: a folder on tmpfs, made 0700. */
export const createRunscTransport = (runsc: Runsc, requestDir: string): ExecTransport => ({
  name: 'runsc-exec',
  start: async (sandboxId, { argv, env, cwd, uid, gid, alsoBounding, alsoHolding }, streams) => {
    await mkdir(requestDir, { recursive: true, mode: 0o700 })
    const name = join(requestDir, randomUUID())
    const [requestFile, pidFile] = [`${name}.json`, `${name}.pid`]
    const request = {
      ...{ user: { uid, gid }, args: argv, cwd },
      env: Object.entries(env).map(([variable, value]) => `${variable}=${value}`),
      capabilities: ociCapabilities(capabilitiesOf(uid, alsoBounding, alsoHolding)),
    }
    await writeFile(requestFile, JSON.stringify(request), { mode: 0o600 })
    const args = runsc.args('exec', `--process=${requestFile}`, `--internal-pid-file=${pidFile}`, sandboxId)
    const child = spawn(runsc.path, args, { stdio: [...streams] })
    const exited = new Promise<number>((resolve, reject) => {
      child.once('error', reject)
      // Not `close`: a background process may keep the streams.
      child.once('exit', (code) => resolve(code ?? killedExitCode))
    })
    const judged = exited.then(async (code) =>
      code === couldNotStart && (await pidIn(pidFile)) === 0 ? ('refused' as const) : code,
    )
    const ended = judged.finally(() =>
      Promise.all([rm(requestFile, { force: true }), rm(pidFile, { force: true })]),
    )
    return {
      pid: () => pidIn(pidFile),
      ended,
      kill: async () => {
        const pid = await pidIn(pidFile)
        if (pid > 0) await runsc.run(['kill', `--pid=${pid}`, sandboxId, 'KILL'])
      },
      release: () => void child.kill('SIGKILL'),
    }
  },
})
