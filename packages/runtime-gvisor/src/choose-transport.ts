/**
 * The control socket is gVisor's private interface. So the first sandbox that a command is for runs a probe both ways. If
 * the outcomes are the same, every command goes over the socket; if they differ, those of that sandbox go by `runsc exec`,
 * and once another one differs, all do, for as long as this driver lives.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '@dock/foundation'
import type { ExecTransport } from './exec-transport.ts'
import { type Ran, runToEnd } from './run-to-end.ts'

const probeMs = 10_000
const word = 'a "b" \\c $d é'
const script = `
printf '%s|' "$0" "$#" "$@" "$PWD" "$PROBE_WORD" "$UID" "\${GROUPS[0]}"
read -r line; printf '%s|' "$line" "$(ulimit -a)"
while read -r line; do case $line in Uid:*|Gid:*|Cap*) printf '%s|' "$line" ;; esac; done </proc/self/status
echo error >&2
exit 7`

const probe = async (transport: ExecTransport, sandboxId: string): Promise<Ran> => {
  const command = {
    argv: ['/bin/bash', '-c', script, 'probe', word],
    env: { PATH: '/usr/bin:/bin', PROBE_WORD: word },
    ...{ cwd: '/tmp', uid: 1000, gid: 1000, alsoBounding: ['SYSLOG' as const] },
  }
  const wanted = { input: `${word}\n`, outputLimitBytes: 16_384 }
  const late = new AbortController()
  const givenUp = delay(probeMs, undefined, { signal: late.signal, ref: false }).catch(() => undefined)
  return runToEnd(transport, sandboxId, command, wanted, givenUp).finally(() => late.abort())
}

const outcome = ({ exitCode, stdout, stderr }: Ran): string =>
  JSON.stringify([exitCode, stdout.toString('base64'), stderr.toString('base64')])

/** `preferred` where it does the same as `proven`, `proven` otherwise. Nothing is run before the first command. */
export function chooseTransport(
  preferred: ExecTransport,
  proven: ExecTransport,
  logger: Logger,
): ExecTransport {
  let chosen: ExecTransport | undefined
  let choosing: Promise<ExecTransport> | undefined
  /** A sandbox in which they differed. By one alone nothing is decided: it was slow, or its tenant changed what is run. */
  let differing: string | undefined

  const choose = async (sandboxId: string): Promise<ExecTransport> => {
    const [one, other] = await Promise.allSettled([probe(preferred, sandboxId), probe(proven, sandboxId)])
    if (other.status === 'rejected' || other.value.exitCode !== 7) {
      // This sandbox runs nothing at all, so it says nothing of the transports.
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
      `commands do not run as they should by ${preferred.name}: each ${chosen ? '' : 'of this sandbox '}will take 20 ms longer`,
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
