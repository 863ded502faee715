/**
 * The control socket is a private interface of gVisor. Before the first command of a program, a probe therefore runs
 * through both transports in a sandbox of the driver's own. If the outcomes match, every command uses the socket, else
 * `runsc exec`.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '@dock/foundation'
import type { ExecTransport } from './exec-transport.ts'
import { type RunResult, runToEnd } from './run-to-end.ts'

/** A sandbox that no tenant can reach, with both transports into it. */
export type ProbeSandbox = {
  id: string
  preferred: ExecTransport
  proven: ExecTransport
  close(): Promise<void>
}

export type ChosenTransport = ExecTransport & {
  /** Runs the probe if it has not run yet. Never rejects. */
  choose(): Promise<ExecTransport>
}

const probeMs = 10_000
/** Sandboxes in which the preferred transport must misbehave before it is given up: one may just be slow. */
const differingMax = 2
/** Time before a probe that said nothing is repeated. */
const retryMs = 60_000
const word = 'a "b" \\c $d é'
const script = `
printf '%s|' "$0" "$#" "$@" "$PWD" "$PROBE_WORD" "$UID" "\${GROUPS[0]}"
read -r line; printf '%s|' "$line" "$(ulimit -a)"
while read -r line; do case $line in Uid:*|Gid:*|Cap*) printf '%s|' "$line" ;; esac; done </proc/self/status
echo error >&2
exit 7`

const probe = async (transport: ExecTransport, sandboxId: string): Promise<RunResult> => {
  const command = {
    argv: ['/bin/bash', '-c', script, 'probe', word],
    env: { PATH: '/usr/bin:/bin', PROBE_WORD: word },
    cwd: '/tmp',
    uid: 1000,
    gid: 1000,
    alsoBounding: ['SYSLOG' as const],
  }
  const wanted = { input: `${word}\n`, outputLimitBytes: 16_384 }
  const late = new AbortController()
  const abandoned = delay(probeMs, undefined, { signal: late.signal, ref: false }).catch(() => undefined)
  return runToEnd(transport, sandboxId, command, wanted, abandoned).finally(() => late.abort())
}

const outcome = ({ exitCode, stdout, stderr }: RunResult): string =>
  JSON.stringify([exitCode, stdout.toString('base64'), stderr.toString('base64')])

/** Returns both outcomes. Throws if the probe fails even through the proven transport: it then says nothing. */
const compare = async (
  boot: () => Promise<ProbeSandbox>,
  logger: Logger,
): Promise<{ found: string; wanted: string }> => {
  const sandbox = await boot()
  try {
    const [one, other] = await Promise.allSettled([
      probe(sandbox.preferred, sandbox.id),
      probe(sandbox.proven, sandbox.id),
    ])
    if (other.status === 'rejected') throw other.reason
    if (other.value.exitCode !== 7) throw new Error(`the probe ended with ${outcome(other.value)}`)
    const found = one.status === 'fulfilled' ? outcome(one.value) : String(one.reason)
    return { found, wanted: outcome(other.value) }
  } finally {
    await sandbox
      .close()
      .catch((error: unknown) => logger.warn({ err: error }, 'could not remove the sandbox of the probe'))
  }
}

/** Returns a transport that uses `preferred` if it behaves like `proven` in the sandboxes that `boot` starts. */
export function chooseTransport(
  preferred: ExecTransport,
  proven: ExecTransport,
  boot: () => Promise<ProbeSandbox>,
  logger: Logger,
): ChosenTransport {
  let chosen: ExecTransport | undefined
  let choosing: Promise<ExecTransport> | undefined
  let retryAt = Number.NEGATIVE_INFINITY

  const decide = async (): Promise<ExecTransport> => {
    for (let differing = 1; ; differing++) {
      const { found, wanted } = await compare(boot, logger)
      if (found === wanted) return preferred
      logger.warn({ found, wanted }, `commands through ${preferred.name} misbehave`)
      if (differing < differingMax) continue
      logger.warn(`all commands now use ${proven.name}, 20 ms slower`)
      return proven
    }
  }

  const choose = async (): Promise<ExecTransport> => {
    if (chosen) return chosen
    if (performance.now() < retryAt) return proven
    choosing ??= decide()
      .then(
        (decided) => {
          chosen = decided
          return decided
        },
        (error: unknown) => {
          retryAt = performance.now() + retryMs
          logger.warn(
            { err: error },
            `no probe of ${preferred.name}: commands use ${proven.name} for a minute`,
          )
          return proven
        },
      )
      .finally(() => {
        choosing = undefined
      })
    return choosing
  }

  return {
    get name() {
      return (chosen ?? preferred).name
    },
    choose,
    start: async (sandboxId, command, streams) =>
      (chosen ?? (await choose())).start(sandboxId, command, streams),
  }
}
