/** Filters a host's samples. Samples of Docks on other hosts are dropped: they would be billed to somebody else. */
import type { Db } from '../../../database/database.ts'
import type { UsageSample } from '../../hosts/index.ts'
import { readGenerations } from './usage-store.ts'

/** Returns the samples of the host's own Docks. A generation runs on one host only, so lookups are cached. */
export type OwnSamples = (hostId: string, samples: readonly UsageSample[]) => Promise<UsageSample[]>

export function createOwnSamples({ db }: { db: Db }): OwnSamples {
  // By host id: the generations of its own Docks in its last report, by Dock id.
  const own = new Map<string, ReadonlyMap<string, number>>()
  return async (hostId, samples) => {
    const before = own.get(hostId)
    const isKnown = (sample: UsageSample) => before?.get(sample.dockId) === sample.generation
    const unknown = samples.filter((sample) => !isKnown(sample)).map((sample) => sample.dockId)
    const found = unknown.length > 0 ? await readGenerations(db, hostId, unknown) : null
    const kept = samples.filter(
      (sample) => isKnown(sample) || found?.get(sample.dockId) === sample.generation,
    )
    own.set(hostId, new Map(kept.map((sample) => [sample.dockId, sample.generation])))
    return kept
  }
}
