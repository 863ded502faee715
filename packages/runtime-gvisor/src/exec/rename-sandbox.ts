/**
 * Changes the host name of a running sandbox. Only this program gets SYS_ADMIN for it; a tenant's process never does.
 */
import type { ExecTransport } from './exec-transport.ts'
import { runPlatformProgram } from './run-platform-program.ts'

const deadlineMs = 5_000

/** Throws if the sandbox does not accept the name. */
export async function renameSandbox(
  transport: ExecTransport,
  sandboxId: string,
  hostname: string,
): Promise<void> {
  const { exitCode, stderr } = await runPlatformProgram(transport, sandboxId, 'other', {
    ...{ argv: ['/bin/hostname', hostname], alsoHolding: ['SYS_ADMIN'] },
    ...{ outputLimitBytes: 1024, deadlineMs },
  })
  if (exitCode !== 0) throw new Error(`hostname ended with ${exitCode}: ${stderr.toString('utf8').trim()}`)
}
