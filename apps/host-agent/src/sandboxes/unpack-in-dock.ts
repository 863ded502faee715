/**
 * Unpacks folders and files in a running sandbox. The program is started in advance and waits for its input, because
 * starting a program costs tens of milliseconds there. It runs as root and follows links, so use it only for disks on which
 * nothing has ever run.
 */
import type { RuntimeDriver, SandboxHandle } from '@dock/runtime'
import { tarArchive } from './tar-archive.ts'

const timeoutMs = 30_000
/** The longest time that a timer supports. */
const waitingMsMax = 2 ** 31 - 1

/** Call exactly one of the methods, once. */
export type Unpacking = {
  /** Unpacks the archive. Throws if the sandbox does not accept it. */
  give(archive: Buffer): Promise<void>
  /** Ends the program without unpacking anything. Errors are ignored. */
  end(): void
}

/** Starts the program, which waits for its input. */
export function beginUnpacking(driver: RuntimeDriver, sandbox: SandboxHandle): Unpacking {
  const { promise: input, resolve: give } = Promise.withResolvers<Buffer>()
  const late = new AbortController()
  const ended = driver.exec(sandbox, {
    argv: ['/bin/tar', '--extract', '--absolute-names', '--numeric-owner', '--no-overwrite-dir', '--touch'],
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    ...{ cwd: '/', uid: 0, gid: 0, outputLimitBytes: 4096 },
    ...{ input, signal: late.signal, timeoutMs: waitingMsMax },
  })
  // `give` reports a failure. If nothing was given, a failure does not matter, because the sandbox may have ended.
  ended.catch(() => undefined)
  return {
    give: async (archive) => {
      give(archive)
      const timer = setTimeout(() => late.abort(), timeoutMs)
      const { exitCode, stderr } = await ended.finally(() => clearTimeout(timer))
      if (exitCode === 0) return
      const said = stderr.toString('utf8').trim()
      throw new Error(`the sandbox did not accept its Environment: exit ${exitCode}: ${said}`)
    },
    end: () => give(tarArchive([])),
  }
}
