/** Commands by `runsc exec`: one host process each, 20 to 30 ms on top of the command. */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { capabilitiesOf, ociCapabilities } from './capabilities.ts'
import type { ExecTransport } from './exec-transport.ts'
import { hostProcess } from './host-process.ts'
import type { Runsc } from './runsc.ts'

/** What `runsc exec` answers when it could not start the command; commands may answer it too. */
const couldNotStart = 128
const killedExitCode = 137
/** runsc tells nobody that it has written the number of the process, so the file is read again and again. */
const pidPollMs = 10

/** The number that a finished start wrote; 0 when the command has not started. */
const pidIn = async (path: string): Promise<number> => {
  const text = await readFile(path, 'utf8').catch(() => '')
  return Number.parseInt(text, 10) || 0
}

const folderPrefix = 'exec-'
/** A `runsc exec` outlives the process that started it, and reads its request in its first moments. */
const unreadMs = 60_000

/** Whether the folder of requests is that of a process which was killed a while ago. */
const isLeftOver = async (path: string, name: string): Promise<boolean> => {
  if (!name.startsWith(folderPrefix) || hostProcess(Number(name.slice(folderPrefix.length)))) return false
  return Date.now() - (await stat(path)).mtimeMs > unreadMs
}

/** Makes this process's folder for requests, and removes what killed ones left: requests hold secrets. */
const makeRequestFolder = async (stateDir: string): Promise<string> => {
  await mkdir(stateDir, { recursive: true, mode: 0o700 })
  for (const name of await readdir(stateDir)) {
    const path = join(stateDir, name)
    if (await isLeftOver(path, name)) await rm(path, { recursive: true, force: true })
  }
  const name = `${folderPrefix}${process.pid}`
  await mkdir(join(stateDir, name), { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  return join(stateDir, name)
}

/**
 * `stateDir` is the driver's own folder, best on tmpfs, which nobody but root may enter: whoever could write a request
 * would choose what is run, and as whom. `runscFor` names the program for a sandbox.
 */
export function createRunscTransport(
  runscFor: (sandboxId: string) => Runsc,
  stateDir: string,
): ExecTransport {
  let made: Promise<string> | undefined
  const requestFolder = (): Promise<string> => {
    made ??= makeRequestFolder(stateDir)
    made.catch(() => {
      made = undefined
    })
    return made
  }
  return {
    name: 'runsc-exec',
    start: async (sandboxId, { argv, env, cwd, uid, gid, alsoBounding, alsoHolding }, streams) => {
      const name = join(await requestFolder(), randomUUID())
      const [requestFile, pidFile] = [`${name}.json`, `${name}.pid`]
      const request = {
        ...{ user: { uid, gid }, args: argv, cwd },
        env: Object.entries(env).map(([variable, value]) => `${variable}=${value}`),
        capabilities: ociCapabilities(capabilitiesOf(uid, alsoBounding, alsoHolding)),
      }
      await writeFile(requestFile, JSON.stringify(request), { mode: 0o600, flag: 'wx' })
      const runsc = runscFor(sandboxId)
      const args = runsc.args('exec', `--process=${requestFile}`, `--internal-pid-file=${pidFile}`, sandboxId)
      const child = spawn(runsc.path, args, { stdio: [...streams] })
      const exited = new Promise<number>((resolve, reject) => {
        child.once('error', reject)
        // Not `close`: a background process may keep the streams.
        child.once('exit', (code) => resolve(code ?? killedExitCode))
      })
      let hasExited = false
      const over = (): void => {
        hasExited = true
      }
      exited.then(over, over)
      const pidOnceKnown = async (): Promise<number> => {
        for (;;) {
          const pid = await pidIn(pidFile)
          if (pid > 0 || hasExited) return pid
          await delay(pidPollMs, undefined, { ref: false })
        }
      }
      const judged = exited.then(async (code) =>
        code === couldNotStart && (await pidIn(pidFile)) === 0 ? ('refused' as const) : code,
      )
      const ended = judged.finally(() =>
        Promise.all([rm(requestFile, { force: true }), rm(pidFile, { force: true })]),
      )
      return {
        pid: pidOnceKnown,
        ended,
        kill: async () => {
          const pid = await pidIn(pidFile)
          if (pid > 0) await runsc.run(['kill', `--pid=${pid}`, sandboxId, 'KILL'])
        },
        release: () => void child.kill('SIGKILL'),
      }
    },
  }
}
