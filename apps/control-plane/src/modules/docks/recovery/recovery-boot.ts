/** The boot of a recovery: its disk is the only one there is, so it gives up late and keeps the disk. */
import { OperationBlocked } from '../../../engine/index.ts'
import { HostRefused, HostUnreachable } from '../../hosts/index.ts'
import type { Recovery } from './recovery.ts'

const attemptsMax = 3

/** Refusals that pass with time, and of which a host's next report is the sign to try again. */
const passing = new Set<string>(['busy', 'no_space', 'frozen'])

/** Starts it, three times if need be; waits as blocked while its host is silent or has no room for it. */
export const bootPatiently = async <Started>(
  hostId: string,
  recovery: Recovery,
  start: () => Promise<Started>,
): Promise<Started> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start()
    } catch (error) {
      const refusal = error instanceof HostRefused ? error.code : null
      if (error instanceof HostUnreachable || (refusal && passing.has(refusal)))
        throw new OperationBlocked(hostId, 'the host cannot start it now', { cause: error })
      if (refusal === 'not_found') recovery.held = 'disk_gone'
      if (refusal !== 'failed' || attempt === attemptsMax) throw error
    }
  }
}
