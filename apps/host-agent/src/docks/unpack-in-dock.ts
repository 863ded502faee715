/**
 * Puts folders and files into a sandbox that runs, by one program that needs no other: each costs tens of milliseconds
 * there. As root and through links, so for disks only on which nobody has ever run anything.
 */
import type { RuntimeDriver, SandboxHandle } from '@dock/runtime'
import type { Entry } from './seams.ts'
import { tarArchive } from './tar-archive.ts'

const timeoutMs = 30_000

/** Throws when the sandbox does not take them. */
export const unpackInDock = async (
  driver: RuntimeDriver,
  sandbox: SandboxHandle,
  entries: readonly Entry[],
): Promise<void> => {
  const { exitCode, stderr } = await driver.exec(sandbox, {
    argv: ['/bin/tar', '--extract', '--absolute-names', '--numeric-owner', '--no-overwrite-dir', '--touch'],
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    ...{ cwd: '/', uid: 0, gid: 0, timeoutMs, outputLimitBytes: 4096, input: tarArchive(entries) },
  })
  if (exitCode === 0) return
  throw new Error(
    `the sandbox did not take its Environment: exit ${exitCode}: ${stderr.toString('utf8').trim()}`,
  )
}
