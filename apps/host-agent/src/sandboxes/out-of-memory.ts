/** Reports that a Dock ran out of memory, to the caller of the command and to the control plane. */
import type { Clock } from '@dock/foundation'
import type { OutOfMemory } from '@dock/runtime'
import type { DockEvents } from './dock-events.ts'

/** Processes that end within this time are reported in one event: a fork bomb has thousands of them. */
const gatherMs = 2_000

/** A process chooses its own name, so other characters are replaced. */
const plainName = (name: string): string => name.replace(/[^\w.:@/+-]/g, '?').slice(0, 15) || '?'

/** Returns the line that is added to a command's standard error. */
export function formatOutOfMemory(names: readonly string[], memoryMiB: number): string {
  const what = names.length === 1 ? '' : ` and ${names.length - 1} more processes`
  const verb = names.length === 1 ? 'was' : 'were'
  return `dock: ${plainName(names[0] ?? '')}${what} ${verb} ended because the Dock ran out of memory (${memoryMiB} MiB)`
}

/** Returns a listener for the driver's events that sends them to the control plane, several processes in one event. */
export function reportOutOfMemory(events: DockEvents, clock: Clock): (event: OutOfMemory) => void {
  const gathered = new Map<string, { process: string; count: number }>()
  return ({ dockId, generation, process }) => {
    if (process === null) {
      events.emit({ type: 'dock.out_of_memory', dockId, generation, process, count: 1 })
      return
    }
    const key = `${dockId}/${generation}`
    const known = gathered.get(key)
    if (known) {
      known.count += 1
      return
    }
    const fresh = { process: plainName(process), count: 1 }
    gathered.set(key, fresh)
    clock.after(gatherMs, () => {
      gathered.delete(key)
      events.emit({ type: 'dock.out_of_memory', dockId, generation, ...fresh })
    })
  }
}
