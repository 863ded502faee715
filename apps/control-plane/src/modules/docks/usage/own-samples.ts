/** A host is believed of the Docks that it has: samples of others would be billed to, and shown in, somebody else's. */
import type { Db } from '../../../database/database.ts'
import type { UsageSample } from '../../hosts/index.ts'
import { readGenerations } from './usage-store.ts'

/** Those of a host's samples that are of its own Docks. A generation of a Dock is on one host: it is looked up once. */
export type OwnSamples = (hostId: string, samples: readonly UsageSample[]) => Promise<UsageSample[]>

export function createOwnSamples({ db }: { db: Db }): OwnSamples {
  // By host: the generations of its Docks that it last reported.
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
