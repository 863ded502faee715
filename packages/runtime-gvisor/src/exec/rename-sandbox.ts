/**
 * Changes the host name of a running sandbox. Only this program gets SYS_ADMIN for it; a tenant's process never does.
 */
import { closeSync } from 'node:fs'
import type { ExecTransport } from './exec-transport.ts'
import { openHostnameProgram } from './hostname-program.ts'
import { runPlatformProgram } from './run-platform-program.ts'

const deadlineMs = 5_000

/** `stateDir` is the driver's folder. Throws if the sandbox does not accept the name. */
export async function renameSandbox(
  transport: ExecTransport,
  stateDir: string,
  sandboxId: string,
  hostname: string,
): Promise<void> {
  const fromHost = openHostnameProgram(stateDir)
  try {
    const { exitCode, stderr } = await runPlatformProgram(transport, sandboxId, 'other', {
      ...{ argv: ['hostname', hostname], fromHost, alsoHolding: ['SYS_ADMIN'] },
      ...{ outputLimitBytes: 1024, deadlineMs },
    })
    if (exitCode !== 0)
      throw new Error(`setting the host name ended with ${exitCode}: ${stderr.toString('utf8').trim()}`)
  } finally {
    closeSync(fromHost)
  }
}
