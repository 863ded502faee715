/**
 * Removes Docks and captures from hosts. A removal is never rolled back: if a host cannot do it now, an order is saved
 * and the host executes it at its next report. What is already absent counts as removed.
 */
import type { Db } from '../../../database/database.ts'
import { OperationBlocked } from '../../../engine/index.ts'
import {
  type HostGateway,
  HostRefused,
  HostUnreachable,
  isHostLost,
  type OrderForHost,
} from '../../hosts/index.ts'

const isAbsent = (error: unknown): boolean => error instanceof HostRefused && error.code === 'not_found'

/**
 * True if the refusal means that the host has nothing of this generation of the Dock: it has no such Dock, or a later
 * generation of it, which happens after a restore of the database.
 */
export function isGenerationAbsent(error: unknown): boolean {
  return isAbsent(error) || (error instanceof HostRefused && error.code === 'stale_generation')
}

/** Removes a capture. If the host cannot do it now, returns the order to save instead. */
export async function removeCapture(
  gateway: Pick<HostGateway, 'destroyCapture'>,
  capture: { id: string; hostId: string },
  operationId: string,
): Promise<OrderForHost[]> {
  const { id, hostId } = capture
  try {
    await gateway.destroyCapture({ hostId, captureId: id }, { operationId })
    return []
  } catch (error) {
    return isAbsent(error) ? [] : [{ hostId, kind: 'capture', thingId: id, generation: 0 }]
  }
}

/**
 * Removes a Dock's sandbox and disk. Throws {@link OperationBlocked} if the host fails, because the sandbox may still run
 * there. If the host is lost, returns the order to save instead.
 */
export async function removeDockDisk(
  { gateway, db }: { gateway: Pick<HostGateway, 'destroy'>; db: Db },
  dock: { id: string; hostId: string; generation: number },
  operationId: string,
): Promise<OrderForHost[]> {
  const { id, hostId, generation } = dock
  try {
    await gateway.destroy({ hostId, dockId: id }, { operationId, generation })
    return []
  } catch (error) {
    if (isGenerationAbsent(error)) return []
    if (error instanceof HostUnreachable && (await isHostLost(db, hostId)))
      return [{ hostId, kind: 'dock', thingId: id, generation }]
    throw new OperationBlocked(hostId, 'the host could not remove the Dock', { cause: error })
  }
}
