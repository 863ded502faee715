/** Wires up the sagas of Docks, Snapshots and Templates with their dependencies from other modules. */
import type { Clock, Logger } from '@dock/foundation'
import type { Db } from './database/database.ts'
import type { Saga } from './engine/index.ts'
import type { Copies } from './modules/copies/index.ts'
import {
  createDeleteSaga,
  createDockRepositories,
  createSecretsOf,
  createSetupSaga,
  createStartSagas,
  createStopSaga,
  createUpgradeSaga,
  type DockContext,
} from './modules/docks/index.ts'
import type { PassedOn } from './modules/environments/index.ts'
import type { HostGateway } from './modules/hosts/index.ts'
import type { ImageVersions } from './modules/images/index.ts'
import type { Lineage } from './modules/lineage/index.ts'
import { createSnapshotDeleteSaga } from './modules/snapshots/index.ts'
import { createDeleteTemplateSaga, createSaveTemplateSaga } from './modules/templates/index.ts'
import type { Sealer } from './sealing/index.ts'

export function createDockSagas(
  options: Pick<DockContext, 'policy' | 'startFailures' | 'ttl'> & {
    db: Db
    clock: Clock
    logger: Logger
    gateway: HostGateway
    sealer: Sealer
    /** Identifies this process on leases. */
    owner: string
    copies: Copies
    imageVersions: ImageVersions
    passed: PassedOn
    lineage: Lineage
  },
): Saga[] {
  const { db, clock, logger, gateway, sealer, owner, ttl, policy, startFailures, passed } = options
  const { launch } = passed
  const secretsOf = createSecretsOf({
    ...{ db, sealer },
    passed: passed.secrets,
  })
  const repositories = createDockRepositories({
    ...{ db, clock, gateway, secretsOf },
    passed: passed.repositories,
  })
  const parts = {
    ...{ db, clock, gateway, owner, sealer, ttl, policy, startFailures, launch, repositories },
    ensureCapture: options.copies.ensureCapture,
    ensureImage: options.imageVersions.ensureImage,
    origins: options.lineage,
  }
  return [
    ...createStartSagas(parts),
    createSetupSaga({ ...parts, secretsOf }),
    createStopSaga(parts),
    createDeleteSaga(parts),
    createSaveTemplateSaga(parts),
    createDeleteTemplateSaga(parts),
    createSnapshotDeleteSaga(parts),
    createUpgradeSaga({ ...parts, logger }),
  ]
}
