/**
 * Applies another version of its Environment to a running Dock. If that fails midway, the previous version is applied
 * again. Meanwhile the operation's data records that the Dock may have only part of a version.
 */
import { type Clock, faultPoint } from '@dock/foundation'
import type { Db } from '../../../database/database.ts'
import { type HostGateway, HostNotLinked, HostRefused } from '../../hosts/index.ts'
import { listLiveDockKeyIds, revokeDockKeys } from '../../keys/index.ts'
import {
  clearApply,
  mayHavePartialVersion,
  type OlderDock,
  pinDock,
  recordApply,
  restrictBeforeApply,
  type UpgradeOperation,
  type UpgradeTarget,
} from './upgrade-store.ts'
import type { PrepareApply } from './variables/prepare-apply.ts'

type Options = { db: Db; clock: Clock; gateway: HostGateway; owner: string; prepareApply: PrepareApply }

/** True if the Dock may have received part of the version. Every other refusal happens before it starts. */
const refusedMidway = (error: unknown): boolean =>
  error instanceof HostRefused && (error.code === 'failed' || error.code === 'exec_refused')

/** True if the Dock has received no part of the version. */
const neverStarted = (error: unknown): boolean =>
  error instanceof HostNotLinked || error instanceof HostRefused

export type ApplyVersion = (
  operation: UpgradeOperation,
  target: UpgradeTarget,
  dock: OlderDock,
) => Promise<boolean>

/**
 * The returned function returns false if the Dock has changed since it was read. It throws if applying fails;
 * {@link mayHavePartialVersion} then tells if the Dock may have only part of a version. It revokes the Dock's previous
 * keys once it has succeeded, whether or not the version passes a new one.
 */
export function createApplyVersion({ db, clock, gateway, owner, prepareApply }: Options): ApplyVersion {
  const apply = async (operation: UpgradeOperation, dock: OlderDock, hostId: string, version: number) => {
    const { id: dockId, generation } = dock
    const former = await listLiveDockKeyIds(db, dockId)
    const given = await prepareApply({
      organizationId: operation.organizationId,
      dockId,
      liveVersion: version,
    })
    faultPoint('upgrade:apply:before')
    await gateway.applyEnvironment({ hostId, dockId }, { operationId: operation.id, generation, ...given })
    faultPoint('upgrade:apply:after')
    await revokeDockKeys(db, dockId, former)
  }

  return async (operation, target, dock) => {
    const { hostId } = dock
    if (hostId === null || !gateway.hostsWithControlLink().includes(hostId))
      throw new HostNotLinked('the host of the Dock is not connected')
    if (!(await restrictBeforeApply(db, target, dock, clock.now()))) return false
    const hadPart = mayHavePartialVersion(operation, dock)
    await recordApply(db, owner, operation, dock)
    try {
      await apply(operation, dock, hostId, target.version)
    } catch (error) {
      if (refusedMidway(error)) await apply(operation, dock, hostId, dock.version)
      else if (hadPart || !neverStarted(error)) throw error
      clearApply(operation, dock)
      throw error
    }
    const isPinned = await pinDock(db, target, dock, { isGiven: true, now: clock.now() })
    faultPoint('upgrade:pin:after')
    return isPinned
  }
}
