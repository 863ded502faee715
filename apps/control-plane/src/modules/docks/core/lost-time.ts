/**
 * Rules for operations that are repeated after a database restore. The "lost time" is the time between the backup and the
 * restore. An operation that was running at the backup may have completed in the lost time, and its Dock may have changed
 * since. Repeating it must therefore not destroy anything on the host.
 */
import type { Db } from '../../../database/database.ts'
import { OperationBlocked, type OperationRow } from '../../../engine/index.ts'
import { type HostGateway, HostRefused, HostUnreachable, isHostLost } from '../../hosts/index.ts'
import type { Lineage } from '../../lineage/index.ts'

export type LostTimeParts = {
  db: Db
  gateway: Pick<HostGateway, 'readCaptureNote'>
  /** Tells which operations an earlier process began, and which may have completed in the lost time. */
  origins: Pick<Lineage, 'isInherited' | 'isOfLostTime'>
}

/**
 * Throws {@link OperationBlocked} if an earlier process began the operation and its host is unreachable but not lost. Only
 * the host's next report tells if the database was restored, and failing the operation before then could order the host
 * to remove disks that it made in the lost time. Otherwise returns, and the operation may fail.
 */
export async function blockIfInherited(
  { db, origins }: Pick<LostTimeParts, 'db' | 'origins'>,
  operation: OperationRow,
  hostId: string,
  error: unknown,
): Promise<void> {
  if (!(error instanceof HostUnreachable) || !(await origins.isInherited(operation.id))) return
  if (await isHostLost(db, hostId)) return
  throw new OperationBlocked(
    hostId,
    'the host is unreachable; its next report tells if the operation has completed already',
    { cause: error },
  )
}

/**
 * Returns the capture that a repeated operation made in the lost time, if the host refuses to make it again because the
 * Dock has changed since. Throws `refusal` if the operation began after the restore or the host has no such capture.
 */
export async function findLostTimeCapture(
  { gateway, origins }: Pick<LostTimeParts, 'gateway' | 'origins'>,
  operation: OperationRow,
  capture: { id: string; hostId: string },
  refusal: unknown,
): Promise<{ sizeBytes: number }> {
  if (!(refusal instanceof HostRefused) || !(await origins.isOfLostTime(operation.id))) throw refusal
  try {
    const { sizeBytes } = await gateway.readCaptureNote({ hostId: capture.hostId, captureId: capture.id })
    return { sizeBytes: sizeBytes ?? 0 }
  } catch (error) {
    throw error instanceof HostRefused ? refusal : error
  }
}
