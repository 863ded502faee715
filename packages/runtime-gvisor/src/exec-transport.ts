/** How a command gets into a sandbox. One implementation spawns `runsc exec`; others may speak to the sentry itself. */
import type { ExecRequest, ExecResult } from '@dock/runtime'

export type ExecTransport = {
  readonly name: string
  /**
   * Runs one command to its end in the sandbox of this id, and ends its process tree at the timeout.
   * Throws ExecRefused when the command could not be started.
   */
  exec(sandboxId: string, request: ExecRequest): Promise<ExecResult>
}
