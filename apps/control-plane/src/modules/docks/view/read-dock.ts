/** GET /v1/docks/:id, GET /v1/docks, GET /v1/operations/:id */
import { type Dock, type Operation, statesOfFilter } from '@dock/contract'
import type { Caller, Visitor } from '../../accounts/index.ts'
import { findVisibleOperation, listVisibleDocks } from '../core/dock-store.ts'
import { type DockContext, requireDock } from '../dock-context.ts'
import { viewDock } from './dock-view.ts'

/** One Dock of the caller's organizations. */
export async function readDock(context: DockContext, caller: Visitor, id: string): Promise<Dock> {
  return viewDock(await requireDock(context, caller, id))
}

/** The caller's Docks in the states of the filter's letters, or all, page by page. */
export async function* listDocks(
  context: Pick<DockContext, 'db'>,
  caller: Caller,
  query: { filter: string; all: boolean },
): AsyncGenerator<Dock[]> {
  const states = query.all ? null : statesOfFilter(query.filter)
  for await (const page of listVisibleDocks(context.db, caller.userId, states)) yield page.map(viewDock)
}

/** An operation on a thing of the caller's organizations. Throws `operation_not_found`. */
export async function readOperation(context: DockContext, caller: Visitor, id: string): Promise<Operation> {
  const { role: _, ...operation } = caller.admit(await findVisibleOperation(context.db, caller.userId, id))
  return operation
}
