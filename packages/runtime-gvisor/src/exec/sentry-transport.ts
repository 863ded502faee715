/** Runs commands over the control sockets of the sandboxes' sentries. */
import { ExecRefused } from '@dock/runtime'
import { capabilitiesOf, maskOf } from '../sandbox/capabilities.ts'
import { exitCodeOf, isSignalled, type Sentry, type SentryCommand } from '../sentry/sentry.ts'
import { SentryRefused } from '../sentry/sentry-connection.ts'
import type { Command, ExecTransport } from './exec-transport.ts'

/** `sentryOf` returns the sentry of a sandbox. */
export function createSentryTransport(sentryOf: (sandboxId: string) => Promise<Sentry>): ExecTransport {
  /** Sandboxes that lack a file that should have run in place of a program. */
  const lacking = new WeakMap<Sentry, Set<string>>()

  /** Only the sandbox knows which files it has: the host opens no paths on a disk that a tenant has used. */
  const startPreferred = async (
    sentry: Sentry,
    executable: Command['executable'],
    command: SentryCommand,
    streams: readonly [number, number, number],
  ): Promise<number> => {
    const lacked = lacking.get(sentry) ?? new Set()
    if (executable === undefined || lacked.has(executable)) return sentry.start(command, streams)
    try {
      return await sentry.start({ ...command, executable }, streams)
    } catch (error) {
      if (!(error instanceof SentryRefused)) throw error
    }
    // Another thing may be wrong, for example the folder. Then the program is refused too.
    const pid = await sentry.start(command, streams)
    lacking.set(sentry, lacked.add(executable))
    return pid
  }

  return {
    name: 'control-socket',
    start: async (sandboxId, command, streams) => {
      const sentry = await sentryOf(sandboxId)
      const { argv, executable, fromHost, env, cwd, uid, gid, alsoBounding, alsoHolding } = command
      const { bounding, effective, permitted } = capabilitiesOf(uid, alsoBounding, alsoHolding)
      const wanted = {
        ...{ argv, fromHost, cwd, uid, gid },
        env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
        capabilities: {
          bounding: maskOf(bounding),
          effective: maskOf(effective),
          permitted: maskOf(permitted),
        },
      }
      const pid = await startPreferred(sentry, executable, wanted, streams).catch((error: unknown) => {
        throw error instanceof SentryRefused ? new ExecRefused(error.message) : error
      })
      let status = 0
      return {
        pid: async () => pid,
        ended: sentry.wait(pid).then((told) => {
          status = told
          return exitCodeOf(told)
        }),
        wasSignalled: () => isSignalled(status),
        kill: () => sentry.killTree(pid),
        release: () => undefined,
      }
    },
  }
}
