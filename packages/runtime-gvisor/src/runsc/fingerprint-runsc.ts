/** Checks that this machine's runsc can be used, and reads its version. */
import { access, stat } from 'node:fs/promises'
import { type Logger, runCommand } from '@dock/foundation'

/** Earlier releases return EINVAL for statx with AT_NO_AUTOMOUNT, so that ls and stat fail inside. */
const oldestRelease = 20240101
/** An older release is warned about: security fixes come only with new releases. */
const ageMsMax = 365 * 24 * 3_600_000

/** Returns the age of a release named by its date, such as 20240729; 0 for other names. */
const ageMsOf = (release: string): number => {
  const made = Date.parse(release.replace(/^(\d{4})(\d{2})(\d{2})$/, '$1-$2-$3'))
  return Number.isNaN(made) ? 0 : Date.now() - made
}

/** Throws an error that says what to do if there is no usable runsc at the path. */
export async function fingerprintRunsc(
  path: string,
  logger: Logger,
): Promise<{ version: string; netCoreHidden: boolean }> {
  await access(path).catch(() => {
    throw new Error(`There is no runsc at ${path}. Run: script/install/runsc ${path}`)
  })
  const text = await runCommand(path, ['--version'], { timeoutMs: 10_000 })
  const release = /\d{8}/.exec(text)?.[0] ?? ''
  if (release && Number(release) < oldestRelease) {
    throw new Error(`runsc ${release} is too old. Run: script/install/runsc ${path}`)
  }
  if (ageMsOf(release) > ageMsMax)
    logger.warn(
      { release },
      'gVisor is over a year old; see docs/operate/upgrade-runsc.md for how to upgrade it',
    )
  // If this file is visible, runsc believes it is in the host's network namespace and refuses to set up networking.
  const showsCore = await stat('/proc/sys/net/core/rmem_default').then(
    () => true,
    () => false,
  )
  if (showsCore)
    logger.warn('/proc/sys/net/core is visible; runsc of 2024 needs a mount namespace that hides it')
  return { version: release || text.split('\n')[0] || 'unknown', netCoreHidden: !showsCore }
}
