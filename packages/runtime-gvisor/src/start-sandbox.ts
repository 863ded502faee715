/** Starts the sandbox of a Dock: from the blank that waits in its network namespace, or without one. */
import { mkdir } from 'node:fs/promises'
import type { SandboxSpec } from '@dock/runtime'
import type { Blanks } from './blank/blanks.ts'
import { startBlank } from './blank/start-blank.ts'
import type { CgroupMount } from './cgroup/sandbox-cgroup.ts'
import { recordRunscName } from './runsc/blank-record.ts'
import type { Runsc } from './runsc/runsc.ts'
import { recordProgram } from './runsc/sandbox-program.ts'
import { bootSandbox } from './sandbox/boot-sandbox.ts'
import type { HostProcess } from './system/host-process.ts'

export type StartParts = {
  runsc: Runsc
  mounts: readonly CgroupMount[]
  blanks: Blanks
  /** Makes the sandbox with this process known to the driver, and sets its host name. */
  rename: (process: HostProcess) => Promise<void>
}

/**
 * Returns the sandbox's process on the host. If the start fails, nothing is left of a blank, and the caller must remove
 * what is left of the sandbox.
 */
export async function startSandbox(
  { runsc, mounts, blanks, rename }: StartParts,
  spec: SandboxSpec,
  id: string,
  folder: string,
): Promise<HostProcess> {
  const blank = await blanks.take(spec)
  const withBlank = blank !== undefined
  try {
    if (blank) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      recordProgram(runsc, folder)
      recordRunscName(folder, blank.name)
      await startBlank(runsc, blank, spec, () => rename(blank.sentry))
    }
    const process = blank?.sentry ?? (await bootSandbox(runsc, mounts, spec, id, folder))
    blanks.noteStart(spec.dockId, { withBlank, hasStarted: true })
    return process
  } catch (error) {
    blanks.noteStart(spec.dockId, { withBlank, hasStarted: false })
    // What cannot be removed now is removed before the next blank is created.
    if (blank) await blanks.discard(blank).catch(() => undefined)
    throw error
  }
}
