/**
 * Delivers another version of its Environment to a running Dock. If the delivery fails midway, the previous version is
 * delivered again. Meanwhile the operation's data records that the Dock may have only part of a version.
 */
import { type Clock, faultPoint } from '@dock/foundation'
import type { Db } from '../../../database/database.ts'
import { type HostGateway, HostNotLinked, HostRefused } from '../../hosts/index.ts'
import { listLiveDockKeyIds, revokeDockKeys } from '../../keys/index.ts'
import {
  clearDelivery,
  mayHavePartialVersion,
  type OlderDock,
  pinDock,
  recordDelivery,
  restrictBeforeDelivery,
  type UpgradeOperation,
  type UpgradeTarget,
} from './upgrade-store.ts'
import type { Launch } from './variables/furnishing.ts'

type Options = { db: Db; clock: Clock; gateway: HostGateway; owner: string; furnish: Launch }

/** True if the Dock may have received part of the delivery. Every other refusal happens before it starts. */
const refusedMidway = (error: unknown): boolean =>
  error instanceof HostRefused && (error.code === 'failed' || error.code === 'exec_refused')

/** True if the Dock has received nothing of the delivery. */
const neverStarted = (error: unknown): boolean =>
  error instanceof HostNotLinked || error instanceof HostRefused

export type DeliverVersion = (
  operation: UpgradeOperation,
  target: UpgradeTarget,
  dock: OlderDock,
) => Promise<boolean>

/**
 * The returned function returns false if the Dock has changed since it was read. It throws if the delivery fails;
 * {@link mayHavePartialVersion} then tells if the Dock may have only part of a version. It revokes the Dock's previous
 * keys once the delivery succeeds, whether or not the delivery contains a new one.
 */
export function createDeliverVersion({ db, clock, gateway, owner, furnish }: Options): DeliverVersion {
  const deliver = async (operation: UpgradeOperation, dock: OlderDock, hostId: string, version: number) => {
    const { id: dockId, generation } = dock
    const former = await listLiveDockKeyIds(db, dockId)
    const given = await furnish({ organizationId: operation.organizationId, dockId, liveVersion: version })
    faultPoint('upgrade:deliver:before')
    await gateway.furnish(hostId, dockId, { operationId: operation.id, generation, ...given })
    faultPoint('upgrade:deliver:after')
    await revokeDockKeys(db, dockId, former)
  }

  return async (operation, target, dock) => {
    const { hostId } = dock
    if (hostId === null || !gateway.hostsWithControlLink().includes(hostId))
      throw new HostNotLinked('the host of the Dock is not connected')
    if (!(await restrictBeforeDelivery(db, target, dock, clock.now()))) return false
    const hadPart = mayHavePartialVersion(operation, dock)
    await recordDelivery(db, owner, operation, dock)
    try {
      await deliver(operation, dock, hostId, target.version)
    } catch (error) {
      if (refusedMidway(error)) await deliver(operation, dock, hostId, dock.version)
      else if (hadPart || !neverStarted(error)) throw error
      clearDelivery(operation, dock)
      throw error
    }
    const isPinned = await pinDock(db, target, dock, { isGiven: true, now: clock.now() })
    faultPoint('upgrade:pin:after')
    return isPinned
  }
}
