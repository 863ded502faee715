/**
 * Operations that the database had under way when it was backed up, and that are repeated after its restore. They may
 * have been carried out in the lost time, and the Dock may have gone on from there: they destroy nothing that they find.
 */
import type { Db } from '../../../database/database.ts'
import { OperationBlocked, type OperationRow } from '../../../engine/index.ts'
import { type HostGateway, HostRefused, HostUnreachable, isHostLost } from '../../hosts/index.ts'
import type { Lineage } from '../../lineage/index.ts'

export type LostTimeParts = {
  db: Db
  gateway: Pick<HostGateway, 'captureNote'>
  /** Tells which operations an earlier process began, and which are of the lost time. */
  origins: Pick<Lineage, 'isInherited' | 'isOfLostTime'>
}

/**
 * Blocks an inherited operation whose host is silent until that host reports: only then is it known whether the database
 * was restored. A failure would order things away on the host that the host may have made in the lost time. Returns where
 * the operation may fail. Throws {@link OperationBlocked}.
 */
export async function waitWhereInherited(
  { db, origins }: Pick<LostTimeParts, 'db' | 'origins'>,
  operation: OperationRow,
  hostId: string,
  error: unknown,
): Promise<void> {
  if (!(error instanceof HostUnreachable) || !(await origins.isInherited(operation.id))) return
  if (await isHostLost(db, hostId)) return
  throw new OperationBlocked(hostId, 'its host is silent, and may know more of it', { cause: error })
}

/**
 * The capture that a repeated operation made in the lost time, when the host refuses to make it again because the Dock
 * has gone on. Throws `refusal` where the operation is of the present epoch or the host keeps no such capture.
 */
export async function captureOfLostTime(
  { gateway, origins }: Pick<LostTimeParts, 'gateway' | 'origins'>,
  operation: OperationRow,
  capture: { id: string; hostId: string },
  refusal: unknown,
): Promise<{ sizeBytes: number }> {
  if (!(refusal instanceof HostRefused) || !(await origins.isOfLostTime(operation.id))) throw refusal
  try {
    const { sizeBytes } = await gateway.captureNote(capture.hostId, capture.id)
    return { sizeBytes: sizeBytes ?? 0 }
  } catch (error) {
    throw error instanceof HostRefused ? refusal : error
  }
}
