/** Checks that this machine's runsc can be used. */
import { access, stat } from 'node:fs/promises'
import type { Logger } from '@dock/foundation'
import type { RuntimeRelease } from '@dock/runtime'

/** Earlier releases return EINVAL for statx with AT_NO_AUTOMOUNT, so that ls and stat fail inside. */
const oldestRelease = 20240101
/** An older release is warned about: security fixes come only with new releases. */
const ageMsMax = 365 * 24 * 3_600_000

/** Throws an error that says what to do if there is no usable runsc at the path. */
export async function fingerprintRunsc(
  path: string,
  readRelease: () => Promise<RuntimeRelease>,
  logger: Logger,
): Promise<{ release: RuntimeRelease; netCoreHidden: boolean }> {
  await access(path).catch(() => {
    throw new Error(`There is no runsc at ${path}. Run: script/install/runsc ${path}`)
  })
  const release = await readRelease()
  const { version, releasedAt } = release
  if (Number.parseInt(version, 10) < oldestRelease) {
    throw new Error(`runsc ${version} is too old. Run: script/install/runsc ${path}`)
  }
  if (releasedAt && Date.now() - Date.parse(releasedAt) > ageMsMax)
    logger.warn(release, 'gVisor is over a year old; see docs/operate/upgrade-runsc.md for how to upgrade it')
  // If this file is visible, runsc believes it is in the host's network namespace and refuses to set up networking.
  const showsCore = await stat('/proc/sys/net/core/rmem_default').then(
    () => true,
    () => false,
  )
  if (showsCore)
    logger.warn('/proc/sys/net/core is visible; runsc of 2024 needs a mount namespace that hides it')
  return { release, netCoreHidden: !showsCore }
}
