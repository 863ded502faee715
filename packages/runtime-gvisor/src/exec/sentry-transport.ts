/** Runs commands over the control sockets of the sandboxes' sentries. */
import { ExecRefused } from '@dock/runtime'
import { capabilitiesOf, maskOf } from '../sandbox/capabilities.ts'
import { exitCodeOf, isSignalled, type Sentry } from '../sentry/sentry.ts'
import { SentryRefused } from '../sentry/sentry-connection.ts'
import type { ExecTransport } from './exec-transport.ts'

/** `sentryOf` returns the sentry of a sandbox. */
export function createSentryTransport(sentryOf: (sandboxId: string) => Promise<Sentry>): ExecTransport {
  return {
    name: 'control-socket',
    start: async (sandboxId, command, streams) => {
      const sentry = await sentryOf(sandboxId)
      const { argv, env, cwd, uid, gid, alsoBounding, alsoHolding } = command
      const { bounding, effective, permitted } = capabilitiesOf(uid, alsoBounding, alsoHolding)
      const wanted = {
        ...{ argv, cwd, uid, gid },
        env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
        capabilities: {
          bounding: maskOf(bounding),
          effective: maskOf(effective),
          permitted: maskOf(permitted),
        },
      }
      const pid = await sentry.start(wanted, streams).catch((error: unknown) => {
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
