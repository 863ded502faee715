/** GET /v1/docks/:id, GET /v1/docks, GET /v1/operations/:id */
import { type Dock, type Operation, statesOfFilter } from '@dock/contract'
import type { Caller, Visitor } from '../../accounts/index.ts'
import { findVisibleOperation, listVisibleDocks } from '../core/dock-store.ts'
import { type DockContext, requireDock } from '../dock-context.ts'
import { viewDock } from './dock-view.ts'

/** Returns a Dock of the caller's organizations. Throws `dock_not_found`. */
export async function readDock(context: DockContext, caller: Visitor, id: string): Promise<Dock> {
  return viewDock(await requireDock(context, caller, id))
}

/** Yields the caller's Docks page by page: those in the states of the filter's letters, or all. */
export async function* listDocks(
  context: Pick<DockContext, 'db'>,
  caller: Caller,
  query: { filter: string; all: boolean },
): AsyncGenerator<Dock[]> {
  const states = query.all ? null : statesOfFilter(query.filter)
  for await (const page of listVisibleDocks(context.db, caller.userId, states)) yield page.map(viewDock)
}

/** Returns an operation of the caller's organizations. Throws `operation_not_found`. */
export async function readOperation(context: DockContext, caller: Visitor, id: string): Promise<Operation> {
  const { role: _, ...operation } = caller.admit(await findVisibleOperation(context.db, caller.userId, id))
  return operation
}
