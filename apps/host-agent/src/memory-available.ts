/** How much of the machine's memory is left for sandboxes that wait for a Dock. */
import { readMemory } from './host-facts.ts'

/** Returns the share of the machine's memory that is available. */
export function readMemoryAvailable(): number {
  try {
    const { availableBytes, totalBytes } = readMemory()
    return availableBytes / totalBytes
  } catch {
    // Without a descriptor left, /proc cannot be read: what waits makes room.
    return 0
  }
}
