/**
 * What this host remembers of the Dock instance it serves. A control plane whose database was restored from a backup learns
 * from it that the host has seen later changes.
 */
import { readFile } from 'node:fs/promises'
import { writeFileDurably } from '@dock/foundation'
import { type KeepInstance, type KeptInstance, keptInstance } from '@dock/host-protocol'
import { AgentRefusal } from '../sandboxes/agent-refusal.ts'

/** Maximum number of erasures to keep. The oldest are dropped first. */
const erasuresMax = 100_000

export type InstanceMemory = {
  read(): Promise<KeptInstance>
  /** Saves the message. On return it is on stable storage. Throws `stale_generation` for an old epoch. */
  keep(told: KeepInstance): Promise<void>
  /** Throws `stale_generation` if the epoch is older than the newest one this host has seen. */
  requireCurrent(epoch: number | undefined): Promise<void>
}

const nothing: KeptInstance = { watermark: null, erasures: [] }

export function createInstanceMemory(path: string): InstanceMemory {
  let known: KeptInstance | undefined
  let written: Promise<unknown> = Promise.resolve()
  const read = async (): Promise<KeptInstance> => {
    if (known) return known
    try {
      known = keptInstance.parse(JSON.parse(await readFile(path, 'utf8')))
    } catch (error) {
      // A damaged file must not count as a missing one.
      if ((error as { code?: string }).code !== 'ENOENT') throw error
      known = nothing
    }
    return known
  }
  const requireCurrent = async (epoch = 0): Promise<void> => {
    const { watermark } = await read()
    if (watermark && epoch < watermark.epoch)
      throw new AgentRefusal('stale_generation', `the instance has a newer epoch than ${epoch}`)
  }
  return {
    read,
    requireCurrent,
    keep: (told) => {
      const keeping = written.then(async () => {
        await requireCurrent(told.watermark.epoch)
        const { erasures } = await read()
        const all = new Map([...erasures, ...told.erasures].map((each) => [`${each.kind} ${each.id}`, each]))
        const next = { watermark: told.watermark, erasures: [...all.values()].slice(-erasuresMax) }
        await writeFileDurably(path, JSON.stringify(next))
        known = next
      })
      written = keeping.catch(() => undefined)
      return keeping
    },
  }
}
