/**
 * Every change of what an Environment holds or passes on makes its next version. Who was slower than another writer is
 * told so (`conflict`) and nothing of theirs is kept: an update is never lost.
 */
import { isDeepStrictEqual } from 'node:util'
import { ServiceError } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { type Tx, withTransaction } from '../../database/database.ts'
import { requireRoomForRepositories } from '../limits/index.ts'
import { type Bundle, checkBundle, describeBundle } from './bundle.ts'
import { openBundle, sealBundle } from './bundle-sealing.ts'
import type { EnvironmentContext } from './environment-context.ts'
import {
  type EnvironmentRow,
  insertVersion,
  type Posture,
  readEnvironmentRow,
  takeNextVersion,
} from './environment-store.ts'

const postureOf = (row: Posture): Posture => ({
  safeForThirdParties: row.safeForThirdParties,
  passGithub: row.passGithub,
  passSecrets: row.passSecrets,
  passDockCredentials: row.passDockCredentials,
  passAgentsCredentials: row.passAgentsCredentials,
})

export type VersionChange = {
  bundle?: (current: Bundle) => Bundle
  posture?: Partial<Posture>
  /** Locks that the transaction takes before any row of the Environment's. */
  first?: (tx: Tx) => Promise<void>
  /** What changes beside the version, in the same transaction. */
  also?: (tx: Tx) => Promise<void>
}

/** The Environment after the change; as it was where nothing differs. Throws `conflict`, `rate_limited` and what the bundle is refused with. */
export async function makeVersion(
  context: EnvironmentContext,
  environment: EnvironmentRow,
  change: VersionChange,
): Promise<EnvironmentRow> {
  const { db, clock, sealer } = context
  const { id: environmentId, organizationId } = environment
  const before = await openBundle(
    sealer,
    { organizationId, versionId: environment.versionId },
    environment.sealed,
  )
  const bundle = change.bundle?.(before) ?? before
  const posture = { ...postureOf(environment), ...change.posture }
  const isSame = isDeepStrictEqual(bundle, before) && isDeepStrictEqual(posture, postureOf(environment))
  checkBundle(bundle)
  const moreRepositories = bundle.repositories.length > before.repositories.length
  if (!isSame) await context.rateLimits.take('environmentVersions', organizationId)
  const versionId = newUuid()
  const sealed = isSame ? null : await sealBundle(sealer, { organizationId, versionId }, bundle)
  const now = clock.now()
  await withTransaction(db, async (tx) => {
    await change.first?.(tx)
    if (moreRepositories)
      await requireRoomForRepositories(tx, organizationId, context.limits, bundle.repositories.length)
    if (!isSame) {
      if (!(await takeNextVersion(tx, environment, now)))
        throw new ServiceError('conflict', {
          message: 'The Environment was changed at the same moment. Read it and try again.',
        })
      await insertVersion(tx, {
        id: versionId,
        environmentId,
        organizationId,
        version: environment.currentVersion + 1,
        sealed,
        ...posture,
        ...describeBundle(bundle),
        now,
      })
    }
    await change.also?.(tx)
  })
  const after = await readEnvironmentRow(db, environmentId)
  if (!after) throw new ServiceError('environment_not_found')
  return after
}
