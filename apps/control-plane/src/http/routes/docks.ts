/** Routes of Docks and operations. */
import {
  branchDock,
  createDock,
  type DockContext,
  deleteDock,
  execInDock,
  listDocks,
  readDock,
  readDockLastStop,
  readDockSeries,
  readDockStats,
  readDockTimeline,
  readOperation,
  resumeDock,
  searchDocks,
  stopDock,
  updateDock,
} from '../../modules/docks/index.ts'
import type { Handlers } from '../../routing/handler.ts'

export function dockHandlers(context: DockContext): Handlers {
  return {
    createDock: ({ caller, body, idempotencyKey }) => createDock(context, caller, body, idempotencyKey),
    listDocks: async ({ caller, query }) => listDocks(context, caller, query),
    readDock: ({ caller, params }) => readDock(context, caller, params.id),
    updateDock: ({ caller, params, body }) => updateDock(context, caller, params.id, body),
    deleteDock: ({ caller, params, confirmDelete }) => deleteDock(context, caller, params.id, confirmDelete),
    stopDock: ({ caller, params, body }) => stopDock(context, caller, params.id, body),
    resumeDock: ({ caller, params, body }) => resumeDock(context, caller, params.id, body),
    branchDock: ({ caller, params, body, idempotencyKey }) =>
      branchDock(context, caller, params.id, body, idempotencyKey),
    execInDock: ({ caller, params, body, refusedBody, idempotencyKey, cancelled }) =>
      execInDock(context, caller, params.id, refusedBody ?? body, { key: idempotencyKey, cancelled }),
    readDockStats: ({ caller, params, query }) => readDockStats(context, caller, params.id, query),
    readDockLastStop: ({ caller, params }) => readDockLastStop(context, caller, params.id),
    searchDocks: ({ caller, query }) => searchDocks(context, caller, query),
    readDockTimeline: ({ caller, params, query }) => readDockTimeline(context, caller, params.id, query),
    readDockSeries: ({ caller, params, query }) => readDockSeries(context, caller, params.id, query),
    readOperation: ({ caller, params }) => readOperation(context, caller, params.id),
  }
}
