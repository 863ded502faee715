/**
 * A sandbox of the driver's own for the probe of the control socket. Its disk is this machine's root folder, read-only,
 * and it has no network, so nothing in it depends on a tenant.
 */
import { join } from 'node:path'
import type { CgroupMount } from '../cgroup/sandbox-cgroup.ts'
import type { Runsc } from '../runsc/runsc.ts'
import { readSandboxState } from '../runsc/sandbox-state.ts'
import { bootSandbox } from '../sandbox/boot-sandbox.ts'
import { removeSandbox } from '../sandbox/remove-sandbox.ts'
import { Sentry } from '../sentry/sentry.ts'
import type { ProbeSandbox } from './choose-transport.ts'
import { createRunscTransport } from './runsc-transport.ts'
import { createSentryTransport } from './sentry-transport.ts'

/** It is no id of a Dock's boot, so `list` never returns it. */
const id = 'transport-probe'

/** Boots the sandbox with this runsc. First removes the sandbox of a driver that died during its probe. */
export async function bootProbeSandbox(
  program: Runsc,
  mounts: readonly CgroupMount[],
  stateDir: string,
): Promise<ProbeSandbox> {
  const runsc = program.offline()
  const folder = join(stateDir, id)
  const remove = () => removeSandbox(runsc, mounts, id, folder)
  await remove()
  try {
    await bootSandbox(
      runsc,
      mounts,
      { hostname: id, cpus: 1, memoryMiB: 256, disk: { mount: '/' }, isReadOnly: true },
      id,
      folder,
    )
    const { controlSocket } = await readSandboxState(runsc.rootDir, id)
    const sentry = new Sentry(controlSocket ?? '', id)
    return {
      id,
      preferred: createSentryTransport(async () => sentry),
      proven: createRunscTransport(() => ({ runsc, name: id }), stateDir),
      close: async () => {
        sentry.close()
        await remove()
      },
    }
  } catch (error) {
    await remove().catch(() => undefined)
    throw error
  }
}
