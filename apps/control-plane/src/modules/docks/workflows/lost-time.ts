/**
 * Operations that the database had under way when it was backed up, and that are repeated after its restore. They may
 * have been carried out in the lost time, and the Dock may have gone on from there: what they find is never destroyed.
 */
import type { OperationRow } from '../../../engine/index.ts'
import { type HostGateway, HostRefused } from '../../hosts/index.ts'

export type LostTimeParts = {
  gateway: Pick<HostGateway, 'captureNote'>
  /** Whether the operation began in an earlier epoch of the instance. */
  isOfLostTime(operationId: string): Promise<boolean>
}

/**
 * The capture that a repeated operation made in the lost time, when the host refuses to make it again because the Dock
 * has gone on. Throws `refusal` where the operation is of the present epoch or the host keeps no such capture.
 */
export const captureOfLostTime = async (
  { gateway, isOfLostTime }: LostTimeParts,
  operation: OperationRow,
  capture: { id: string; hostId: string },
  refusal: unknown,
): Promise<{ sizeBytes: number }> => {
  if (!(refusal instanceof HostRefused) || !(await isOfLostTime(operation.id))) throw refusal
  try {
    const { sizeBytes } = await gateway.captureNote(capture.hostId, capture.id)
    return { sizeBytes: sizeBytes ?? 0 }
  } catch (error) {
    throw error instanceof HostRefused ? refusal : error
  }
}
