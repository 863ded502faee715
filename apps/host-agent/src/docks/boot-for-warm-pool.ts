/** Boots a sandbox for the warm pool, warms up its login shell, and freezes it. */
import type { KeepWarmPool } from '@dock/host-protocol'
import type { DockState } from '../sandboxes/dock-state.ts'
import { dockUser, loginShell } from '../sandboxes/login-shell.ts'
import { beginUnpacking } from '../sandboxes/unpack-in-dock.ts'
import { bootDock } from './boot-dock.ts'

export type WarmPoolKind = NonNullable<KeepWarmPool['kind']>

const warmTimeoutMs = 20_000

/**
 * Starts the program that will unpack the Environment at the claim, and runs one login shell. A second login shell takes
 * half as long, because its files are then in memory.
 */
const warm = async (dock: DockState): Promise<void> => {
  if (!dock.live) throw new Error('the sandbox ended while it was prepared for the warm pool')
  dock.unpacking = beginUnpacking(dock.parts.driver, dock.live)
  const result = await dock.parts.driver.exec(dock.live, {
    ...loginShell('true'),
    ...{ cwd: dockUser.home, timeoutMs: warmTimeoutMs, outputLimitBytes: 1024 },
  })
  if (result.exitCode !== 0) throw new Error(`the first login shell failed: exit ${result.exitCode}`)
}

/** On return the sandbox is frozen and can be claimed. If this throws, the caller must call {@link discardWarmSandbox}. */
export async function bootForWarmPool(dock: DockState, kind: WarmPoolKind, hostname: string): Promise<void> {
  const { image, ...size } = kind
  await bootDock(dock, {
    ...{ operationId: 'warm-pool', generation: 0, hostname, ...size },
    ...{ source: { kind: 'image', image }, newIdentity: false },
  })
  await warm(dock)
  if (!dock.live) throw new Error('the sandbox ended while it was prepared for the warm pool')
  await dock.parts.freezer.freeze(dock.live, 'warm')
}

/** Removes a sandbox of the warm pool completely. Idempotent. */
export async function discardWarmSandbox(dock: DockState): Promise<void> {
  const { networks, disks } = dock.parts
  await dock.endSandbox()
  await Promise.all([networks.destroy(dock.dockId), disks.remove(dock.dockId)])
  await dock.erase()
}
