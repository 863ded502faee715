/** Runs a command on a Dock's host. */
import { isReadyDockState, limits, type RouteBody, type routes, ServiceError } from '@dock/contract'
import { type ExecOutcome, explainHostFailure, type HostFailureWords, NotBegun } from '../../hosts/index.ts'
import type { DockRow } from '../core/dock.ts'
import type { DockContext } from '../dock-context.ts'

const commandWords: HostFailureWords = {
  busy: () =>
    new NotBegun('rate_limited', {
      message: `${limits.exec.inFlightPerDockMax} commands are running in this Dock; wait until one ends.`,
    }),
}

export type ExecBody = RouteBody<(typeof routes)['execInDock']>

/** Returns the Dock's host. Throws `dock_not_running` if the Dock is not ready. */
export function requireReady(dock: DockRow): string {
  if (!isReadyDockState(dock.state) || dock.hostId === null) throw new NotBegun('dock_not_running')
  return dock.hostId
}

/** Runs the command until it ends or times out, or `cancelled` aborts. The deployment's maximum caps the requested timeout. */
export async function runCommand(
  context: DockContext,
  dock: DockRow,
  body: ExecBody,
  cancelled?: AbortSignal,
): Promise<ExecOutcome> {
  const hostId = requireReady(dock)
  const timeoutSeconds = Math.min(body.timeoutSeconds, context.execTimeoutSecondsMax)
  const ended = context.activity.begin(dock)
  try {
    const request = {
      generation: dock.generation,
      command: body.command,
      cwd: body.cwd,
      env: body.env,
      timeoutMs: timeoutSeconds * 1000,
      outputLimitBytes: limits.exec.outputBytesMax,
      ...(cancelled ? { endsWithCaller: true as const } : {}),
    }
    return await context.gateway.exec({ hostId, dockId: dock.id }, request, { signal: cancelled })
  } catch (error) {
    if (cancelled?.aborted) throw new ServiceError('exec_failed', { detail: 'the caller disconnected' })
    throw explainHostFailure(error, commandWords)
  } finally {
    ended()
  }
}
