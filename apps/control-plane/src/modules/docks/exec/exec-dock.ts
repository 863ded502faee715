/** POST /v1/docks/:id/exec */
import { type ExecResult, ServiceError } from '@dock/contract'
import type { Visitor } from '../../accounts/index.ts'
import { requireSecretsAccess } from '../core/environment-gate.ts'
import { type DockContext, requireDock } from '../dock-context.ts'
import { execOnce } from './exec-once.ts'
import { type ExecBody, runCommand } from './run-command.ts'

/** Runs one command in a ready Dock. With a key it runs once, whatever happens to this process meanwhile. */
export async function execInDock(
  context: DockContext,
  caller: Visitor,
  id: string,
  body: ExecBody,
  key: string | undefined,
): Promise<ExecResult> {
  const { rateLimits } = context
  const [dock] = await Promise.all([
    requireDock(context, caller, id),
    rateLimits.take('execPerCaller', caller.userId),
  ])
  requireSecretsAccess(dock)
  // Counted for who may see the Dock alone: strangers cannot use its number up.
  await rateLimits.take('execPerDock', id)
  const outcome = key === undefined ? runCommand(context, dock, body) : execOnce(context, dock, body, key)
  const { timedOut, ...result } = await outcome
  if (timedOut) throw new ServiceError('exec_timeout')
  return result
}
