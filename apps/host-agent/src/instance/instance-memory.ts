/**
 * What this host remembers of the instance that it serves, in its own folder: by it, a control plane whose database was
 * restored notices that the host has seen more.
 */
import { readFile } from 'node:fs/promises'
import { writeFileDurably } from '@dock/foundation'
import { type KeepInstance, type KeptInstance, keptInstance } from '@dock/host-protocol'
import { AgentRefusal } from '../docks/agent-refusal.ts'

/** Of erasures the newest are kept. */
const erasuresMax = 100_000

export type InstanceMemory = {
  read(): Promise<KeptInstance>
  /** Remembers it; on return it is on stable storage. Throws `stale_generation` for an epoch that is over. */
  keep(told: KeepInstance): Promise<void>
  /** Throws `stale_generation` when the order was given in an epoch that is over. */
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
      // A file that cannot be understood must not pass for one that was never written.
      if ((error as { code?: string }).code !== 'ENOENT') throw error
      known = nothing
    }
    return known
  }
  const requireCurrent = async (epoch = 0): Promise<void> => {
    const { watermark } = await read()
    if (watermark && epoch < watermark.epoch)
      throw new AgentRefusal('stale_generation', `epoch ${epoch} of the instance is over`)
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
