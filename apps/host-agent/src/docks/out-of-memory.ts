/** What is said of Docks that run out of memory: to the command's caller, and to the control plane for its owner. */
import type { Clock } from '@dock/foundation'
import type { OutOfMemory } from '@dock/runtime'
import type { DockEvents } from './dock-events.ts'

/** A fork bomb has thousands of processes: one event tells of all that were ended within this time. */
const gatherMs = 2_000

/** A process chooses its own name: only plain characters of it are shown. */
const plainName = (name: string): string => name.replace(/[^\w.:@/+-]/g, '?').slice(0, 15) || '?'

/** The last line of a command's standard error. */
export function memoryLine(names: readonly string[], memoryMiB: number): string {
  const what = names.length === 1 ? '' : ` and ${names.length - 1} more processes`
  const verb = names.length === 1 ? 'was' : 'were'
  return `dock: ${plainName(names[0] ?? '')}${what} ${verb} ended because the Dock ran out of memory (${memoryMiB} MiB)`
}

/** Takes what the driver tells, and tells the control plane, some processes at a time. */
export function tellOfMemory(events: DockEvents, clock: Clock): (event: OutOfMemory) => void {
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
