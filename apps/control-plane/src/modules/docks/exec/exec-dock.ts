/** POST /v1/docks/:id/exec */
import { type ExecResult, ServiceError } from '@dock/contract'
import type { Visitor } from '../../accounts/index.ts'
import { requireSecretsAccess } from '../core/environment-gate.ts'
import { requireNotDriven } from '../core/run-gate.ts'
import { type DockContext, requireDock } from '../dock-context.ts'
import { execOnce } from './exec-once.ts'
import { type ExecBody, runCommand } from './run-command.ts'

/**
 * Runs a command in a ready Dock. With an idempotency key, it runs at most once, even if this process
 * crashes. When `cancelled` aborts, the command is ended with everything it started.
 */
export async function execInDock(
  context: DockContext,
  caller: Visitor,
  id: string,
  body: ExecBody,
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
  const outcome =
    key === undefined
      ? runCommand(context, dock, body, cancelled)
      : execOnce(context, dock, body, { key, cancelled })
  const { timedOut, ...result } = await outcome
  if (timedOut) throw new ServiceError('exec_timeout')
  return result
}
