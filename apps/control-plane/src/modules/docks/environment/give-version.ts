/**
 * Gives a running Dock another version of its Environment: all of it, or what it had before. Between the two the
 * operation remembers that it may have a part.
 */
import { type Clock, faultPoint } from '@dock/foundation'
import type { Db } from '../../../database/database.ts'
import type { OperationRow } from '../../../engine/index.ts'
import { type HostGateway, HostNotLinked, HostRefused } from '../../hosts/index.ts'
import { liveDockKeys, revokeDockKeys } from '../../keys/index.ts'
import {
  barBefore,
  deliveryIsWhole,
  mayHavePart,
  noteDelivery,
  type OlderDock,
  pinDock,
  type UpgradeTarget,
} from './upgrade-store.ts'
import type { Launch } from './variables/furnishing.ts'

type Options = { db: Db; clock: Clock; gateway: HostGateway; owner: string; furnish: Launch }

/** The Dock began to take it: any other refusal comes before. */
const refusedMidway = (error: unknown): boolean =>
  error instanceof HostRefused && (error.code === 'failed' || error.code === 'exec_refused')

/** Nothing was sent, or nothing of it taken. */
const wasNotBegun = (error: unknown): boolean =>
  error instanceof HostNotLinked || error instanceof HostRefused

export type GiveVersion = (
  operation: OperationRow,
  target: UpgradeTarget,
  dock: OlderDock,
) => Promise<boolean>

/**
 * Returns false when the Dock has changed since it was read. Throws when it does not take the version; {@link mayHavePart}
 * then says whether it has the older one whole. Revokes the Dock's previous keys once the delivery succeeds, whether or
 * not it contains a new one.
 */
export function createGiveVersion({ db, clock, gateway, owner, furnish }: Options): GiveVersion {
  const deliver = async (operation: OperationRow, dock: OlderDock, hostId: string, version: number) => {
    const { id: dockId, generation } = dock
    const former = await liveDockKeys(db, dockId)
    const given = await furnish({ organizationId: operation.organizationId, dockId, liveVersion: version })
    faultPoint('upgrade:deliver:before')
    await gateway.furnish(hostId, dockId, { operationId: operation.id, generation, ...given })
    faultPoint('upgrade:deliver:after')
    await revokeDockKeys(db, dockId, former)
  }

  return async (operation, target, dock) => {
    const { hostId } = dock
    if (hostId === null || !gateway.linked().includes(hostId)) throw new HostNotLinked('no link to its host')
    if (!(await barBefore(db, target, dock, clock.now()))) return false
    const hadPart = mayHavePart(operation, dock)
    await noteDelivery(db, owner, operation, dock)
    try {
      await deliver(operation, dock, hostId, target.version)
    } catch (error) {
      if (refusedMidway(error)) await deliver(operation, dock, hostId, dock.version)
      else if (hadPart || !wasNotBegun(error)) throw error
      deliveryIsWhole(operation, dock)
      throw error
    }
    const isPinned = await pinDock(db, target, dock, { isGiven: true, now: clock.now() })
    faultPoint('upgrade:pin:after')
    return isPinned
  }
}
