/** Boots a Dock for a recovery. The disk is the only copy of the Dock's data, so the boot is retried and the disk kept. */
import { OperationBlocked } from '../../../engine/index.ts'
import { HostRefused } from '../../hosts/index.ts'
import { isTransientHostFailure } from '../core/is-transient-host-failure.ts'
import type { Recovery } from './recovery.ts'

const attemptsMax = 3

/**
 * Runs `start` up to three times. Throws {@link OperationBlocked} if the failure is transient, for example if the host is
 * unreachable or full.
 */
export async function bootWithRetries<Started>(
  hostId: string,
  recovery: Recovery,
  start: () => Promise<Started>,
): Promise<Started> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start()
    } catch (error) {
      if (isTransientHostFailure(error))
        throw new OperationBlocked(hostId, 'the host cannot start the Dock now', { cause: error })
      const refusal = error instanceof HostRefused ? error.code : null
      if (refusal === 'not_found') recovery.held = 'disk_gone'
      if (refusal !== 'failed' || attempt === attemptsMax) throw error
    }
  }
}
