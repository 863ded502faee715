/**
 * Runs a command with an idempotency key at most once. Its row is saved before the command is sent, so this holds even if
 * the process crashes. A short outcome is kept (sealed) for a day and returned to repeated requests. It is saved shortly
 * after the answer. Without a kept outcome, a repeated request gets `exec_result_expired`.
 */
import { byteLength, isReadyDockState, limits, ServiceError } from '@dock/contract'
import { type ExecOutcome, NotBegun } from '../../hosts/index.ts'
import type { DockRow } from '../core/dock.ts'
import { organizationOwner } from '../core/sealed-columns.ts'
import type { DockContext } from '../dock-context.ts'
import {
  claimExecKey,
  dropOutcomes,
  type EarlierExec,
  type ExecKey,
  findExecKey,
  freeExecKey,
  keepOutcome,
} from './exec-key-store.ts'
import type { Ended } from './keyed-execs.ts'
import { type ExecBody, requireReady, runCommand } from './run-command.ts'

/**
 * Runs the command, or returns the outcome of the earlier command with this key. Concurrent calls share one run, which
 * ends with the caller of the first one if that caller wanted it.
 */
export function execOnce(
  context: DockContext,
  dock: DockRow,
  body: ExecBody,
  { key, cancelled }: { key: string; cancelled: AbortSignal | undefined },
): Promise<ExecOutcome> {
  const { id: dockId, organizationId } = dock
  return context.keyedExecs.run(`${dockId} ${key}`, () =>
    claimAndRun(context, dock, body, { dockId, organizationId, key }, cancelled),
  )
}

/** Returns the outcome of the earlier command with this key. Throws `otherwise` if there was none. */
export async function replayExec(
  context: DockContext,
  { id: dockId, organizationId }: DockRow,
  key: string,
  otherwise: ServiceError,
): Promise<ExecOutcome> {
  const underWay = context.keyedExecs.find(`${dockId} ${key}`)
  if (underWay) return underWay
  const place = { dockId, organizationId, key }
  const earlier = await findExecKey(context.db, place)
  if (!earlier) throw otherwise
  return replay(context, place, earlier)
}

const claimAndRun = async (
  context: DockContext,
  dock: DockRow,
  body: ExecBody,
  key: ExecKey,
  cancelled: AbortSignal | undefined,
): Promise<Ended> => {
  const { db, clock } = context
  const id = isReadyDockState(dock.state) ? await claimExecKey(db, key, clock.now()) : null
  if (id !== null) return runFirst(context, dock, body, { key, id }, cancelled)
  const earlier = await findExecKey(db, key)
  if (earlier) return { outcome: await replay(context, key, earlier), save: null }
  requireReady(dock)
  // A command that was refused has released the key in the meantime.
  return claimAndRun(context, dock, body, key, cancelled)
}

const runFirst = async (
  context: DockContext,
  dock: DockRow,
  body: ExecBody,
  { key, id }: { key: ExecKey; id: string },
  cancelled: AbortSignal | undefined,
): Promise<Ended> => {
  try {
    const outcome = await runCommand(context, dock, body, cancelled)
    return { outcome, save: isShort(outcome) ? () => keep(context, key, id, outcome) : null }
  } catch (error) {
    if (error instanceof NotBegun) await freeExecKey(context.db, key, id)
    throw error
  }
}

const isShort = ({ stdout, stderr }: ExecOutcome): boolean =>
  byteLength(stdout) <= limits.exec.keptBytesMax && byteLength(stderr) <= limits.exec.keptBytesMax

const placeOf = (id: string) => ({ table: 'exec_keys', column: 'outcome_sealed', rowId: id })

/** Saves the outcome. A failure is only logged, because the caller gets the outcome in any case. */
const keep = async (context: DockContext, key: ExecKey, id: string, outcome: ExecOutcome): Promise<void> => {
  const { db, sealer, logger } = context
  try {
    await keepOutcome(
      db,
      key,
      id,
      await sealer.seal(organizationOwner(key.organizationId), placeOf(id), JSON.stringify(outcome)),
    )
  } catch (error) {
    logger.warn(
      { dockId: key.dockId, err: error },
      'saving the outcome of a command with an idempotency key failed; a repeated request will not get it',
    )
  }
}

const replay = async (
  { sealer }: DockContext,
  key: ExecKey,
  { id, outcomeSealed }: EarlierExec,
): Promise<ExecOutcome> => {
  if (outcomeSealed === null) throw new ServiceError('exec_result_expired')
  return JSON.parse(
    await sealer.open(organizationOwner(key.organizationId), placeOf(id), outcomeSealed),
  ) as ExecOutcome
}

/** Drops outcomes older than a day. */
export function deleteExpiredOutcomes({ db, clock }: Pick<DockContext, 'db' | 'clock'>): Promise<void> {
  return dropOutcomes(db, new Date(clock.now().getTime() - limits.idempotencyKeepSeconds * 1000))
}
