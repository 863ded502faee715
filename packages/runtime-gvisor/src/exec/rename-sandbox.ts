/**
 * Changes the host name of a running sandbox. Only this program gets SYS_ADMIN for it; a tenant's process never does.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { ExecTransport } from './exec-transport.ts'
import { runToEnd } from './run-to-end.ts'

const deadlineMs = 5_000

/** Throws if the sandbox does not accept the name. */
export async function renameSandbox(
  transport: ExecTransport,
  sandboxId: string,
  hostname: string,
): Promise<void> {
  const program = {
    argv: ['/bin/hostname', hostname],
    env: {},
    ...{ cwd: '/', uid: 0, gid: 0, alsoBounding: [], alsoHolding: ['SYS_ADMIN' as const] },
  }
  const late = new AbortController()
  const abandoned = delay(deadlineMs, undefined, { signal: late.signal, ref: false }).catch(() => undefined)
  const { exitCode, stderr } = await runToEnd(
    transport,
    sandboxId,
    program,
    { outputLimitBytes: 1024 },
    abandoned,
  ).finally(() => late.abort())
  if (exitCode !== 0) throw new Error(`hostname ended with ${exitCode}: ${stderr.toString('utf8').trim()}`)
}
