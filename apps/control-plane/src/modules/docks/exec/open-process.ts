/** Starts a process with streams in a Dock, for the routes and gateways that carry its bytes. */
import { limits } from '@dock/contract'
import type { Visitor } from '../../accounts/index.ts'
import {
  explainHostFailure,
  type HostFailureWords,
  NotBegun,
  type ProcessRequest,
  type RemoteProcess,
} from '../../hosts/index.ts'
import type { DockRow } from '../core/dock.ts'
import { requireSecretsAccess } from '../core/environment-gate.ts'
import { requireNotDriven } from '../core/run-gate.ts'
import { type DockContext, requireDock } from '../dock-context.ts'
import { requireReady } from './run-command.ts'

/** What callers read when an attached process cannot be started. */
export const processWords: HostFailureWords = {
  busy: () =>
    new NotBegun('rate_limited', {
      message: `${limits.attachedProcessesPerDockMax} processes are attached in this Dock; wait until one ends.`,
    }),
}

/** Returns the Dock if the caller may run commands in it. Throws `dock_not_found` or `environment_secrets_admin_only`. */
export async function requireExecAccess(
  context: DockContext,
  caller: Visitor,
  id: string,
): ReturnType<typeof requireDock> {
  const dock = await requireDock(context, caller, id)
  requireSecretsAccess(dock)
  requireNotDriven(dock)
  return dock
}

/**
 * Starts a process. The Dock counts as used until the process has ended or was left. The caller must have checked the
 * access ({@link requireExecAccess}). Throws the errors of exec.
 */
export async function openDockProcess(
  { gateway, activity }: Pick<DockContext, 'gateway' | 'activity'>,
  dock: DockRow,
  request: ProcessRequest,
): Promise<RemoteProcess> {
  const hostId = requireReady(dock)
  const ended = activity.begin(dock)
  try {
    const opened = await gateway.openProcess(
      { hostId, dockId: dock.id },
      { ...request, generation: dock.generation },
    )
    opened.exited.then(ended, ended)
    return opened
  } catch (error) {
    ended()
    throw explainHostFailure(error, processWords)
  }
}
