/** Routes of Docks and operations, and of the decisions of admins that make Docks or give them up. */
import type { Handlers } from '../../routing/handler.ts'
import { takeDecision } from '../hosts/index.ts'
import { branchDock } from './boot/branch-dock.ts'
import { createDock } from './boot/create-dock.ts'
import { resumeDock } from './boot/resume-dock.ts'
import { deleteDock } from './delete/delete-dock.ts'
import type { DockContext } from './dock-context.ts'
import { execInDock } from './exec/exec-dock.ts'
import { adoptQuarantined } from './recovery/adopt-quarantined.ts'
import { declareLost } from './recovery/declare-lost.ts'
import { stopDock } from './stop/stop-dock.ts'
import { listDocks, readDock, readOperation } from './view/read-dock.ts'
import { readDockLastStop } from './view/read-last-stop.ts'
import { readDockSeries } from './view/read-series.ts'
import { readDockStats } from './view/read-stats.ts'
import { readDockTimeline } from './view/read-timeline.ts'
import { searchDocks } from './view/search-docks.ts'
import { updateDock } from './view/update-dock.ts'

export function dockRoutes(context: DockContext): Handlers {
  return {
    createDock: ({ caller, body, runtime, idempotencyKey }) =>
      createDock(context, caller, { ...body, runtime }, idempotencyKey),
    listDocks: async ({ caller, query }) => listDocks(context, caller, query),
    readDock: ({ caller, params }) => readDock(context, caller, params.id),
    updateDock: ({ caller, params, body }) => updateDock(context, caller, params.id, body),
    deleteDock: ({ caller, params, confirmDelete }) => deleteDock(context, caller, params.id, confirmDelete),
    stopDock: ({ caller, params, body }) => stopDock(context, caller, params.id, body),
    resumeDock: ({ caller, params, body }) => resumeDock(context, caller, params.id, body),
    branchDock: ({ caller, params, body, runtime, idempotencyKey }) =>
      branchDock(context, caller, params.id, { ...body, runtime }, idempotencyKey),
    execInDock: ({ caller, params, body, refusedBody, idempotencyKey, cancelled }) =>
      execInDock(context, caller, params.id, refusedBody ?? body, { key: idempotencyKey, cancelled }),
    readDockStats: ({ caller, params, query }) => readDockStats(context, caller, params.id, query),
    readDockLastStop: ({ caller, params }) => readDockLastStop(context, caller, params.id),
    searchDocks: ({ caller, query }) => searchDocks(context, caller, query),
    readDockTimeline: ({ caller, params, query }) => readDockTimeline(context, caller, params.id, query),
    readDockSeries: ({ caller, params, query }) => readDockSeries(context, caller, params.id, query),
    declareHostLost: ({ caller, params }) => declareLost(context, params.id, caller),
    adoptQuarantined: ({ caller, params, body: { organizationId } }) =>
      takeDecision(adoptQuarantined(context, params.id, { organizationId, by: caller })),
    readOperation: ({ caller, params }) => readOperation(context, caller, params.id),
  }
}
