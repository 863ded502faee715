/**
 * A command under a key runs once, whatever becomes of this process: its row is there before it is sent. A replay gets
 * the first one's outcome, sealed for a day where it is short enough; beyond that, that it ran.
 */
import { byteLength, isReadyDockState, limits, ServiceError } from '@dock/contract'
import type { ExecOutcome } from '../../hosts/index.ts'
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
import { type ExecBody, NotRun, requireReady, runCommand } from './run-command.ts'

/** Runs the command unless one ran under the key, and answers the first one's outcome. */
export function execOnce(
  context: DockContext,
  dock: DockRow,
  body: ExecBody,
  key: string,
): Promise<ExecOutcome> {
  const { keyedExecs } = context
  const name = `${dock.id} ${key}`
  const underWay = keyedExecs.get(name)
  if (underWay) return underWay
  const { id: dockId, organizationId } = dock
  const running = claimAndRun(context, dock, body, { dockId, organizationId, key }).finally(() =>
    keyedExecs.delete(name),
  )
  keyedExecs.set(name, running)
  return running
}

const claimAndRun = async (
  context: DockContext,
  dock: DockRow,
  body: ExecBody,
  key: ExecKey,
): Promise<ExecOutcome> => {
  const { db, clock } = context
  const id = isReadyDockState(dock.state) ? await claimExecKey(db, key, clock.now()) : null
  if (id !== null) return runFirst(context, dock, body, key, id)
  const earlier = await findExecKey(db, key)
  if (earlier) return replay(context, key, earlier)
  requireReady(dock)
  // Freed in between, by a command that was refused.
  return claimAndRun(context, dock, body, key)
}

const runFirst = async (
  context: DockContext,
  dock: DockRow,
  body: ExecBody,
  key: ExecKey,
  id: string,
): Promise<ExecOutcome> => {
  try {
    const outcome = await runCommand(context, dock, body)
    if (isShort(outcome)) await keep(context, key, id, outcome)
    return outcome
  } catch (error) {
    if (error instanceof NotRun) await freeExecKey(context.db, key, id)
    throw error
  }
}

const isShort = ({ stdout, stderr }: ExecOutcome): boolean =>
  byteLength(stdout) <= limits.exec.keptBytesMax && byteLength(stderr) <= limits.exec.keptBytesMax

const placeOf = (id: string) => ({ table: 'exec_keys', column: 'outcome_sealed', rowId: id })

/** Whoever waits for the command gets its outcome, kept or not. */
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
    logger.warn({ dockId: key.dockId, err: error }, 'the outcome of a keyed command is not kept')
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

/** Drops the outcomes whose day is over. */
export function dropOldOutcomes({ db, clock }: Pick<DockContext, 'db' | 'clock'>): Promise<void> {
  return dropOutcomes(db, new Date(clock.now().getTime() - limits.idempotencyKeepSeconds * 1000))
}
