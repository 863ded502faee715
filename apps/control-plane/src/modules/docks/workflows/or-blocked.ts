/** Removals never turn back: whatever the host says, they wait and are repeated. Absent is as good as removed. */
import { OperationBlocked } from '../../../engine/index.ts'
import { HostRefused } from '../../hosts/index.ts'

export const orBlocked = async (hostId: string, work: Promise<unknown>): Promise<void> => {
  try {
    await work
  } catch (error) {
    if (error instanceof HostRefused && error.code === 'not_found') return
    throw new OperationBlocked(hostId, 'the host could not remove it', { cause: error })
  }
}
