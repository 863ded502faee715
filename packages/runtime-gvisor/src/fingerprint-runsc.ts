/** Whether this machine's runsc can be used, and what it is. */
import { access, stat } from 'node:fs/promises'
import { type Logger, runCommand } from '@dock/foundation'

/** Releases before this one answer EINVAL to statx with AT_NO_AUTOMOUNT, so that ls and stat fail inside. */
const oldestRelease = 20240101
/** Sandboxes depend on it for their isolation, and fixes come with releases only. */
const ageMsMax = 365 * 24 * 3_600_000

/** Age of a release that is named by its date, as 20240729; 0 where it is not. */
const ageMsOf = (release: string): number => {
  const made = Date.parse(release.replace(/^(\d{4})(\d{2})(\d{2})$/, '$1-$2-$3'))
  return Number.isNaN(made) ? 0 : Date.now() - made
}

/** Throws with what to do when there is no runsc of use at the path. */
export async function fingerprintRunsc(
  path: string,
  logger: Logger,
): Promise<{ version: string; netCoreHidden: boolean }> {
  await access(path).catch(() => {
    throw new Error(`no runsc at ${path}: run script/install/runsc ${path}`)
  })
  const text = await runCommand(path, ['--version'], { timeoutMs: 10_000 })
  const release = /\d{8}/.exec(text)?.[0] ?? ''
  if (release && Number(release) < oldestRelease) {
    throw new Error(`runsc ${release} is too old: run script/install/runsc ${path}`)
  }
  if (ageMsOf(release) > ageMsMax)
    logger.warn(
      { release },
      'gVisor is over a year old: docs/operate/upgrade-runsc.md says how to replace it',
    )
  // runsc takes a namespace that shows this file for the machine's own and refuses to network in it.
  const showsCore = await stat('/proc/sys/net/core/rmem_default').then(
    () => true,
    () => false,
  )
  if (showsCore) logger.warn('net/core is visible: runsc of 2024 needs a mount namespace that hides it')
  return { version: release || text.split('\n')[0] || 'unknown', netCoreHidden: !showsCore }
}
