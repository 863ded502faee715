/**
 * Creates the next version of an Environment. Every change of its contents or of what it passes creates a version.
 * Updates use optimistic concurrency: of two concurrent writers the second gets `conflict`, so no update is lost.
 */
import { isDeepStrictEqual } from 'node:util'
import { ServiceError } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { type Tx, withTransaction } from '../../database/database.ts'
import { requireRoomForRepositories } from '../limits/index.ts'
import { type Bundle, checkBundle, describeBundle, dropNamelessFiles } from './bundle.ts'
import { openBundle, sealBundle } from './bundle-sealing.ts'
import type { EnvironmentContext } from './environment-context.ts'
import {
  type EnvironmentRow,
  insertVersion,
  type Posture,
  readEnvironmentRow,
  takeNextVersion,
} from './environment-store.ts'

const toPosture = (row: Posture): Posture => ({
  safeForThirdParties: row.safeForThirdParties,
  passGithub: row.passGithub,
  passSecrets: row.passSecrets,
  passDockCredentials: row.passDockCredentials,
  passAgentsCredentials: row.passAgentsCredentials,
})

export type VersionChange = {
  bundle?: (current: Bundle) => Bundle
  posture?: Partial<Posture>
  /** Called first in the transaction, to take locks that must precede the locks on the Environment's rows. */
  acquireLocks?: (tx: Tx) => Promise<void>
  /** Called last in the transaction, for changes outside the version. `isNew` is true if the change made a version. */
  alsoChange?: (tx: Tx, isNew: boolean) => Promise<void>
}

/**
 * Applies a change and returns the Environment. Creates no version if neither contents nor posture differ.
 * Throws `conflict`, `rate_limited`, `environment_not_found`, and `validation_error` if the bundle exceeds a limit.
 */
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
  const kept = dropNamelessFiles(before)
  const bundle = change.bundle?.(kept) ?? kept
  const posture = { ...toPosture(environment), ...change.posture }
  const isSame = isDeepStrictEqual(bundle, before) && isDeepStrictEqual(posture, toPosture(environment))
  checkBundle(bundle, before)
  const moreRepositories = bundle.repositories.length > before.repositories.length
  if (!isSame) await context.rateLimits.take('environmentVersions', organizationId)
  const versionId = newUuid()
  const sealed = isSame ? null : await sealBundle(sealer, { organizationId, versionId }, bundle)
  const now = clock.now()
  await withTransaction(db, async (tx) => {
    await change.acquireLocks?.(tx)
    if (moreRepositories)
      await requireRoomForRepositories(tx, organizationId, context.limits, bundle.repositories.length)
    if (!isSame) {
      if (!(await takeNextVersion(tx, environment, now)))
        throw new ServiceError('conflict', {
          message: 'Another request changed the Environment at the same time. Read it again and retry.',
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
    await change.alsoChange?.(tx, !isSame)
  })
  const after = await readEnvironmentRow(db, environmentId)
  if (!after) throw new ServiceError('environment_not_found')
  return after
}
