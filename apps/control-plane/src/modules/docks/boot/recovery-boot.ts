/** The boot of a recovery: its disk is the only one there is, so it gives up late and keeps the disk. */
import { OperationBlocked } from '../../../engine/index.ts'
import { HostRefused } from '../../hosts/index.ts'
import { passesWithTime } from '../core/is-transient-host-failure.ts'
import type { Recovery } from './recovery.ts'

const attemptsMax = 3

/** Starts it, three times if need be; waits as blocked while its host is silent or has no room for it. */
export async function bootPatiently<Started>(
  hostId: string,
  recovery: Recovery,
  start: () => Promise<Started>,
): Promise<Started> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start()
    } catch (error) {
      if (passesWithTime(error))
        throw new OperationBlocked(hostId, 'the host cannot start it now', { cause: error })
      const refusal = error instanceof HostRefused ? error.code : null
      if (refusal === 'not_found') recovery.held = 'disk_gone'
      if (refusal !== 'failed' || attempt === attemptsMax) throw error
    }
  }
}
