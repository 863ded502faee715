/** POST /v1/docks/:id/exec */
import { type ExecResult, ServiceError } from '@dock/contract'
import type { Visitor } from '../../accounts/index.ts'
import type { ExecOutcome } from '../../hosts/index.ts'
import type { DockRow } from '../core/dock.ts'
import { requireSecretsAccess } from '../core/environment-gate.ts'
import { requireNotDriven } from '../core/run-gate.ts'
import { type DockContext, requireDock } from '../dock-context.ts'
import { execOnce, replayExec } from './exec-once.ts'
import { type ExecBody, runCommand } from './run-command.ts'

/**
 * Runs a command in a ready Dock. With an idempotency key, it runs at most once, even if this process
 * crashes; a repeated request gets the first result whatever its body. A body that is not valid is given as the error to
 * throw if there is no such result. When `cancelled` aborts, the command is ended with everything it started.
 */
export async function execInDock(
  context: DockContext,
  caller: Visitor,
  id: string,
  body: ExecBody | ServiceError,
  { key, cancelled }: { key?: string | undefined; cancelled?: AbortSignal | undefined } = {},
): Promise<ExecResult> {
  const { rateLimits } = context
  const [dock] = await Promise.all([
    requireDock(context, caller, id),
    rateLimits.take('execPerCaller', caller.userId),
  ])
  requireSecretsAccess(dock)
  requireNotDriven(dock)
  // Counted after the access check, so that strangers cannot use up the Dock's rate limit.
  await rateLimits.take('execPerDock', id)
  const { timedOut, ...result } = await outcomeOf(context, dock, body, { key, cancelled })
  if (timedOut) throw new ServiceError('exec_timeout')
  return result
}

const outcomeOf = (
  context: DockContext,
  dock: DockRow,
  body: ExecBody | ServiceError,
  { key, cancelled }: { key: string | undefined; cancelled: AbortSignal | undefined },
): Promise<ExecOutcome> => {
  if (body instanceof ServiceError) {
    if (key === undefined) throw body
    return replayExec(context, dock, key, body)
  }
  return key === undefined
    ? runCommand(context, dock, body, cancelled)
    : execOnce(context, dock, body, { key, cancelled })
}
