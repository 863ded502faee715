/**
 * Removals on hosts. They never turn back: what cannot be done now is ordered, and the host carries the order out when
 * it reports again. What is absent is as good as removed.
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
 * Whether the host's refusal says that nothing of this generation of a Dock is there: it keeps nothing of the Dock, or
 * a later generation, as after a restore of the database.
 */
export function isGenerationAbsent(error: unknown): boolean {
  return isAbsent(error) || (error instanceof HostRefused && error.code === 'stale_generation')
}

/** Removes a capture. Returns the order that is to be saved instead where the host could not do it now. */
export async function removeCapture(
  gateway: Pick<HostGateway, 'destroyCapture'>,
  capture: { id: string; hostId: string },
  operationId: string,
): Promise<OrderForHost[]> {
  const { id, hostId } = capture
  try {
    await gateway.destroyCapture(hostId, id, operationId)
    return []
  } catch (error) {
    return isAbsent(error) ? [] : [{ hostId, kind: 'capture', thingId: id, generation: 0 }]
  }
}

/**
 * Removes a Dock's sandbox and disk. They may still run on a silent host, so the operation waits as blocked until the
 * host is back or counts as lost. Returns the order that is to be saved for a lost host.
 */
export async function removeDockDisk(
  { gateway, db }: { gateway: Pick<HostGateway, 'destroy'>; db: Db },
  dock: { id: string; hostId: string; generation: number },
  operationId: string,
): Promise<OrderForHost[]> {
  const { id, hostId, generation } = dock
  try {
    await gateway.destroy(hostId, id, { operationId, generation })
    return []
  } catch (error) {
    if (isGenerationAbsent(error)) return []
    if (error instanceof HostUnreachable && (await isHostLost(db, hostId)))
      return [{ hostId, kind: 'dock', thingId: id, generation }]
    throw new OperationBlocked(hostId, 'the host could not remove it', { cause: error })
  }
}
