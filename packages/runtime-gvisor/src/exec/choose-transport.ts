/**
 * The control socket is a private interface of gVisor. Before the first command, a probe therefore runs in its sandbox
 * through both transports. If the outcomes match, every command uses the socket. If they differ, commands of that
 * sandbox use `runsc exec`. Once a second sandbox differs, all commands use `runsc exec` for the life of this driver.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '@dock/foundation'
import type { ExecTransport } from './exec-transport.ts'
import { type RunResult, runToEnd } from './run-to-end.ts'

const probeMs = 10_000
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
    ...{ cwd: '/tmp', uid: 1000, gid: 1000, alsoBounding: ['SYSLOG' as const] },
  }
  const wanted = { input: `${word}\n`, outputLimitBytes: 16_384 }
  const late = new AbortController()
  const abandoned = delay(probeMs, undefined, { signal: late.signal, ref: false }).catch(() => undefined)
  return runToEnd(transport, sandboxId, command, wanted, abandoned).finally(() => late.abort())
}

const outcome = ({ exitCode, stdout, stderr }: RunResult): string =>
  JSON.stringify([exitCode, stdout.toString('base64'), stderr.toString('base64')])

/** Returns a transport that uses `preferred` if it behaves like `proven`. The probe runs before the first command. */
export function chooseTransport(
  preferred: ExecTransport,
  proven: ExecTransport,
  logger: Logger,
): ExecTransport {
  let chosen: ExecTransport | undefined
  let choosing: Promise<ExecTransport> | undefined
  /**
   * The first sandbox that differed. One is not enough to decide: it may be slow, or its tenant may have replaced bash.
   */
  let differing: string | undefined

  const choose = async (sandboxId: string): Promise<ExecTransport> => {
    const [one, other] = await Promise.allSettled([probe(preferred, sandboxId), probe(proven, sandboxId)])
    if (other.status === 'rejected' || other.value.exitCode !== 7) {
      // The probe fails even through the proven transport, so it says nothing about the preferred one.
      return proven
    }
    if (one.status === 'fulfilled' && outcome(one.value) === outcome(other.value)) {
      chosen = preferred
      return preferred
    }
    if (differing === undefined) differing = sandboxId
    else chosen = proven
    const found = one.status === 'fulfilled' ? outcome(one.value) : String(one.reason)
    logger.warn(
      { transport: proven.name, sandbox: sandboxId, found, wanted: outcome(other.value) },
      `commands through ${preferred.name} misbehave: ${chosen ? 'all commands' : 'those of this sandbox'} now use ${proven.name}, 20 ms slower`,
    )
    return proven
  }

  const transportFor = async (sandboxId: string): Promise<ExecTransport> => {
    if (chosen) return chosen
    if (sandboxId === differing) return proven
    choosing ??= choose(sandboxId).finally(() => {
      choosing = undefined
    })
    return choosing
  }

  return {
    get name() {
      return (chosen ?? preferred).name
    },
    start: async (sandboxId, command, streams) =>
      (await transportFor(sandboxId)).start(sandboxId, command, streams),
  }
}
