import type { HostGateway } from '../hosts/index.ts'
import { createSnapshotDeleteSaga } from './delete-snapshot.ts'
import { createListPace } from './list-pace.ts'
import { createOpenReadings } from './open-readings.ts'
import type { SnapshotContext } from './snapshot-context.ts'

export type SnapshotsModule = { context: SnapshotContext }

/** Registers the saga that deletes Snapshots, and returns what the routes of this module use. */
export function createSnapshotsModule(
  needs: Omit<SnapshotContext, 'readings' | 'listPace' | 'gateway'> & {
    gateway: HostGateway
    /** Identifies this process on leases. */
    owner: string
  },
): SnapshotsModule {
  const { db, clock, gateway, owner, runner, rateLimits, captureHost, listFiles, ensureCapture } = needs
  runner.register([createSnapshotDeleteSaga({ db, clock, gateway, owner })])
  return {
    context: {
      ...{
        db,
        clock,
        gateway,
        runner,
        rateLimits,
        captureHost,
        listFiles,
        ensureCapture,
      },
      readings: createOpenReadings(clock),
      listPace: createListPace(clock),
    },
  }
}
