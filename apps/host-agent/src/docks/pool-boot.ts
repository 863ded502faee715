/** Boots a sandbox for the warm pool, makes its first command quick, and freezes it. */
import type { KeepPool } from '@dock/host-protocol'
import { bootDock } from './boot-dock.ts'
import type { DockState } from './dock-state.ts'
import { dockUser, loginShell } from './login-shell.ts'
import { beginUnpacking } from './unpack-in-dock.ts'

export type PoolKind = NonNullable<KeepPool['kind']>

const warmTimeoutMs = 20_000

/**
 * What takes an Environment at the claim waits in the sandbox from now on. Of two first login shells the second takes
 * half the time: what it reads is in memory then.
 */
const warm = async (dock: DockState): Promise<void> => {
  if (!dock.live) throw new Error('the sandbox ended while it was made')
  dock.unpacking = beginUnpacking(dock.parts.driver, dock.live)
  const result = await dock.parts.driver.exec(dock.live, {
    ...loginShell('true'),
    ...{ cwd: dockUser.home, timeoutMs: warmTimeoutMs, outputLimitBytes: 1024 },
  })
  if (result.exitCode !== 0) throw new Error(`a first shell ended with ${result.exitCode}`)
}

/** On return the sandbox waits, frozen, for a claim; when it throws, nothing of it is left but a record to erase. */
export async function bootForPool(dock: DockState, kind: PoolKind, hostname: string): Promise<void> {
  const { image, ...size } = kind
  await bootDock(dock, {
    ...{ operationId: 'pool', generation: 0, hostname, ...size },
    ...{ source: { kind: 'image', image }, newIdentity: false },
  })
  await warm(dock)
  if (!dock.live) throw new Error('the sandbox ended while it was made')
  await dock.parts.freezer.freeze(dock.live, 'pool')
}

/** Removes all of a sandbox of the pool. Repeating it is harmless. */
export async function discardPooled(dock: DockState): Promise<void> {
  const { networks, disks } = dock.parts
  await dock.endSandbox()
  await Promise.all([networks.destroy(dock.dockId), disks.remove(dock.dockId)])
  await dock.erase()
}
