import type { Handlers } from '../../routing/handler.ts'
import type { HostGateway } from '../hosts/index.ts'
import { createSnapshotDeleteSaga } from './delete-snapshot.ts'
import { createListPace } from './list-pace.ts'
import { createOpenReadings } from './open-readings.ts'
import { snapshotRoutes } from './routes.ts'
import type { SnapshotContext } from './snapshot-context.ts'

export type SnapshotsModule = { context: SnapshotContext; routes: Handlers }

/** Registers the saga that deletes Snapshots, and returns the routes. */
export function createSnapshotsModule(
  needs: Omit<SnapshotContext, 'readings' | 'listPace' | 'gateway'> & {
    gateway: HostGateway
    /** Identifies this process on leases. */
    owner: string
  },
): SnapshotsModule {
  const { db, clock, gateway, owner, runner, rateLimits, captureHost, listFiles, ensureCapture } = needs
  runner.register([createSnapshotDeleteSaga({ db, clock, gateway, owner })])
  const context: SnapshotContext = {
    db,
    clock,
    gateway,
    runner,
    rateLimits,
    captureHost,
    listFiles,
    ensureCapture,
    readings: createOpenReadings(clock),
    listPace: createListPace(clock),
  }
  return { context, routes: snapshotRoutes(context) }
}
