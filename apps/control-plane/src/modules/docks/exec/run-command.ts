/** Runs a command on a Dock's host and maps host errors to API errors. */
import { isReadyDockState, limits, type RouteBody, type routes, ServiceError } from '@dock/contract'
import { type ExecOutcome, HostNotLinked, HostRefused, HostUnreachable } from '../../hosts/index.ts'
import type { DockRow } from '../core/dock.ts'
import type { DockContext } from '../dock-context.ts'

export type ExecBody = RouteBody<(typeof routes)['execInDock']>

/** The command was refused before anything ran, so the same idempotency key may be used again. */
export class NotRun extends ServiceError {}

/** Returns the Dock's host. Throws `dock_not_running` if the Dock is not ready. */
export function requireReady(dock: DockRow): string {
  if (!isReadyDockState(dock.state) || dock.hostId === null) throw new NotRun('dock_not_running')
  return dock.hostId
}

/** Runs the command until it ends or times out. The deployment's maximum caps the requested timeout. */
export async function runCommand(context: DockContext, dock: DockRow, body: ExecBody): Promise<ExecOutcome> {
  const hostId = requireReady(dock)
  const timeoutSeconds = Math.min(body.timeoutSeconds, context.execTimeoutSecondsMax)
  const ended = context.activity.begin(dock)
  try {
    return await context.gateway.exec(hostId, dock.id, {
      generation: dock.generation,
      command: body.command,
      cwd: body.cwd,
      env: body.env,
      timeoutMs: timeoutSeconds * 1000,
      outputLimitBytes: limits.exec.outputBytesMax,
    })
  } catch (error) {
    if (error instanceof HostNotLinked) throw new NotRun('exec_busy', { cause: error })
    if (error instanceof HostUnreachable) throw new ServiceError('exec_failed', { cause: error })
    if (error instanceof HostRefused) throw refusal(error)
    throw error
  } finally {
    ended()
  }
}

const refusal = (error: HostRefused): ServiceError => {
  switch (error.code) {
    case 'busy':
      return new NotRun('rate_limited', {
        message: `${limits.exec.inFlightPerDockMax} commands are running in this Dock; wait until one ends.`,
      })
    case 'not_running':
    case 'not_found':
    case 'stale_generation':
      return new NotRun('dock_not_running', { detail: error.message })
    case 'unsupported':
      return new ServiceError('exec_unavailable', { detail: error.message })
    case 'exec_refused':
    case 'invalid':
      return new NotRun('validation_error', { message: error.message })
    case 'frozen':
      return new NotRun('exec_busy', { detail: error.message })
    case 'out_of_memory':
      return new ServiceError('exec_failed', {
        message:
          'The Dock ran out of memory while the command ran. Its files are intact. If the Dock could not continue, ' +
          'it was restarted. Use less memory, or a Dock with more memory.',
        detail: error.message,
      })
    case 'no_space':
    case 'damaged':
    case 'failed':
      return new ServiceError('exec_failed', { detail: error.message })
  }
}
