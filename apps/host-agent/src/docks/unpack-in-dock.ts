/**
 * Puts folders and files into a sandbox that runs, by one program that needs no other and can wait for them: to start one
 * costs tens of milliseconds there. As root and through links, so for disks only on which nobody has ever run anything.
 */
import type { RuntimeDriver, SandboxHandle } from '@dock/runtime'
import { tarArchive } from './tar-archive.ts'

const timeoutMs = 30_000
/** As long as a timer can be. */
const waitingMsMax = 2 ** 31 - 1

/** To be given an archive, or ended, once. */
export type Unpacking = {
  /** Throws when the sandbox does not take it. */
  give(archive: Buffer): Promise<void>
  /** There is nothing to unpack: how the program ends is nobody's concern. */
  end(): void
}

/** Starts the program, which waits for what it is given. */
export function beginUnpacking(driver: RuntimeDriver, sandbox: SandboxHandle): Unpacking {
  const { promise: input, resolve: give } = Promise.withResolvers<Buffer>()
  const late = new AbortController()
  const ended = driver.exec(sandbox, {
    argv: ['/bin/tar', '--extract', '--absolute-names', '--numeric-owner', '--no-overwrite-dir', '--touch'],
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    ...{ cwd: '/', uid: 0, gid: 0, outputLimitBytes: 4096 },
    ...{ input, signal: late.signal, timeoutMs: waitingMsMax },
  })
  // Its failure is told to whoever gives it something; a sandbox may go without having been given anything.
  ended.catch(() => undefined)
  return {
    give: async (archive) => {
      give(archive)
      const timer = setTimeout(() => late.abort(), timeoutMs)
      const { exitCode, stderr } = await ended.finally(() => clearTimeout(timer))
      if (exitCode === 0) return
      const said = stderr.toString('utf8').trim()
      throw new Error(`the sandbox did not take its Environment: exit ${exitCode}: ${said}`)
    },
    end: () => give(tarArchive([])),
  }
}
