/** POST /v1/docks/:id/exec */
import {
  type ExecResult,
  isReadyDockState,
  limits,
  type RouteBody,
  type routes,
  ServiceError,
} from '@dock/contract'
import { sql } from 'kysely'
import type { Visitor } from '../../accounts/index.ts'
import { HostRefused, HostUnreachable } from '../../hosts/index.ts'
import type { DockRow } from '../dock.ts'
import { type DockContext, requireDock } from '../dock-context.ts'

type ExecBody = RouteBody<(typeof routes)['execInDock']>

/** Keyed commands under way in this process: a replay waits for the first one's result. */
const underWay = new Map<string, Promise<ExecResult>>()

/** Runs one command in a ready Dock. With a key it runs once, whatever happens to this process meanwhile. */
export const execInDock = async (
  context: DockContext,
  caller: Visitor,
  id: string,
  body: ExecBody,
  key: string | undefined,
): Promise<ExecResult> => {
  await context.rateLimits.take('execPerCaller', caller.userId)
  const dock = await requireDock(context, caller, id)
  // Counted for who may see the Dock alone: strangers cannot use its number up.
  await context.rateLimits.take('execPerDock', id)
  if (key === undefined) return run(context, dock, body)
  const name = `${id} ${key}`
  const first = underWay.get(name)
  if (first) return first
  const promise = runOnce(context, dock, body, key).finally(() => underWay.delete(name))
  underWay.set(name, promise)
  return promise
}

const runOnce = async (
  context: DockContext,
  dock: DockRow,
  body: ExecBody,
  key: string,
): Promise<ExecResult> => {
  const { db } = context
  const kept = await sql<{ result: ExecResult | null }>`
    select result from exec_keys where dock_id = ${dock.id} and key = ${key}`.execute(db)
  const earlier = kept.rows[0]
  if (earlier?.result) return earlier.result
  if (earlier) throw new ServiceError('exec_result_expired')
  requireReady(dock)
  // Saved before the command is sent: after a crash the row says that it may have run.
  const claimed = await sql`insert into exec_keys (dock_id, key, created_at)
    values (${dock.id}, ${key}, ${context.clock.now()}) on conflict do nothing`.execute(db)
  if (claimed.numAffectedRows !== 1n) throw new ServiceError('exec_result_expired')
  try {
    const result = await run(context, dock, body)
    await sql`update exec_keys set result = ${JSON.stringify(result)}
      where dock_id = ${dock.id} and key = ${key}`.execute(db)
    return result
  } catch (error) {
    // A command that the host refused has not run: its key is free again.
    if (error instanceof ServiceError && notRun.has(error.code))
      await sql`delete from exec_keys where dock_id = ${dock.id} and key = ${key}`.execute(db)
    throw error
  }
}

const notRun = new Set<string>(['rate_limited', 'dock_not_running', 'validation_error', 'exec_busy'])

const requireReady = (dock: DockRow): string => {
  if (!isReadyDockState(dock.state) || dock.hostId === null) throw new ServiceError('dock_not_running')
  return dock.hostId
}

const run = async (context: DockContext, dock: DockRow, body: ExecBody): Promise<ExecResult> => {
  const hostId = requireReady(dock)
  try {
    const { timedOut, ...result } = await context.gateway.exec(hostId, dock.id, {
      generation: dock.generation,
      command: body.command,
      cwd: body.cwd,
      env: body.env ?? {},
      timeoutMs: body.timeoutSeconds * 1000,
      outputLimitBytes: limits.exec.outputBytesMax,
    })
    if (timedOut) throw new ServiceError('exec_timeout')
    return result
  } catch (error) {
    if (error instanceof HostUnreachable) throw new ServiceError('exec_failed', { cause: error })
    if (error instanceof HostRefused) throw refusal(error)
    throw error
  }
}

const refusal = (error: HostRefused): ServiceError => {
  switch (error.code) {
    case 'busy':
      return new ServiceError('rate_limited', { message: 'Four commands are running in this Dock.' })
    case 'not_running':
    case 'not_found':
    case 'stale_generation':
      return new ServiceError('dock_not_running', { detail: error.message })
    case 'frozen':
      return new ServiceError('exec_busy', { detail: error.message })
    case 'exec_refused':
    case 'invalid':
      return new ServiceError('validation_error', { message: error.message })
    case 'no_space':
    case 'damaged':
    case 'failed':
      return new ServiceError('exec_failed', { detail: error.message })
  }
}
