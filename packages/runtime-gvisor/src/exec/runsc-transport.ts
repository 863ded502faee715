/** Runs commands with `runsc exec`: one host process for each, which takes 20 to 30 ms more than the command. */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Runsc } from '../runsc/runsc.ts'
import { capabilitiesOf, ociCapabilities } from '../sandbox/capabilities.ts'
import { hostProcess } from '../system/host-process.ts'
import type { ExecTransport } from './exec-transport.ts'

/** Exit code of `runsc exec` if it could not start the command. A command may exit with it too. */
const couldNotStart = 128
const killedExitCode = 137
/** runsc does not signal that it has written the pid file, so the file is polled. */
const pidPollMs = 10

/** Returns the pid in the file, or 0 if the command has not started yet. */
const pidIn = async (path: string): Promise<number> => {
  const text = await readFile(path, 'utf8').catch(() => '')
  return Number.parseInt(text, 10) || 0
}

const folderPrefix = 'exec-'
/** Minimum age of a request that is removed. `runsc exec` outlives our process, but reads its request soon. */
const unreadMs = 60_000

/** True if the request folder belongs to a process that died some time ago. */
const isLeftOver = async (path: string, name: string): Promise<boolean> => {
  if (!name.startsWith(folderPrefix) || hostProcess(Number(name.slice(folderPrefix.length)))) return false
  return Date.now() - (await stat(path)).mtimeMs > unreadMs
}

/** Creates this process's request folder. Removes those of dead processes, because requests contain secrets. */
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
 * `stateDir` is a folder of the driver, preferably on tmpfs. Only root may have access: a user who can write requests can
 * run any command as any user. `runscFor` returns the runsc release of a sandbox, and
 * the name under which runsc knows it.
 */
export function createRunscTransport(
  runscFor: (sandboxId: string) => { runsc: Runsc; name: string },
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
    start: async (sandboxId, { argv, fromHost, env, cwd, uid, gid, alsoBounding, alsoHolding }, streams) => {
      const base = join(await requestFolder(), randomUUID())
      const [requestFile, pidFile] = [`${base}.json`, `${base}.pid`]
      const request = {
        ...{ user: { uid, gid }, args: argv, cwd },
        env: Object.entries(env).map(([variable, value]) => `${variable}=${value}`),
        capabilities: ociCapabilities(capabilitiesOf(uid, alsoBounding, alsoHolding)),
      }
      await writeFile(requestFile, JSON.stringify(request), { mode: 0o600, flag: 'wx' })
      const { runsc, name } = runscFor(sandboxId)
      const files = [`--process=${requestFile}`, `--internal-pid-file=${pidFile}`]
      const given =
        fromHost === undefined
          ? { flags: [], stdio: streams }
          : { flags: ['--exec-fd=3'], stdio: [...streams, fromHost] }
      const args = runsc.args('exec', ...files, ...given.flags, name)
      const child = spawn(runsc.path, args, { stdio: [...given.stdio] })
      const exited = new Promise<number>((resolve, reject) => {
        child.once('error', reject)
        // Not `close`: a background process may keep the streams open.
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
          if (pid > 0) await runsc.run(['kill', `--pid=${pid}`, name, 'KILL'])
        },
        release: () => void child.kill('SIGKILL'),
      }
    },
  }
}
