/** Seals and opens bundles. Each version stores one sealed text under the organization's key. */
import type { Sealer } from '../../sealing/index.ts'
import { type Bundle, emptyBundle } from './bundle.ts'
import { environmentSealedColumn } from './environment-store.ts'

type Place = { organizationId: string; versionId: string }

const placeOf = (versionId: string) => ({
  table: environmentSealedColumn.table,
  column: environmentSealedColumn.column,
  rowId: versionId,
})
const ownerOf = (organizationId: string) => ({ kind: 'organization' as const, id: organizationId })

/** Returns the sealed bundle, or null if the bundle is empty. */
export async function sealBundle(sealer: Sealer, place: Place, bundle: Bundle): Promise<string | null> {
  const isEmpty = [bundle.variables, bundle.files, bundle.repositories].every(
    (part) => Object.keys(part).length === 0,
  )
  if (isEmpty) return null
  return sealer.seal(ownerOf(place.organizationId), placeOf(place.versionId), JSON.stringify(bundle))
}

/** Returns the decrypted bundle of a version. */
export async function openBundle(sealer: Sealer, place: Place, sealed: string | null): Promise<Bundle> {
  return sealed === null
    ? emptyBundle
    : (JSON.parse(
        await sealer.open(ownerOf(place.organizationId), placeOf(place.versionId), sealed),
      ) as Bundle)
}
