/**
 * script/prove neighbours [samples]: measures the effect of one Dock on another. One Dock runs a fork bomb, a memory
 * hog, programs that fill the disk with data and with files, and an output flood. Meanwhile commands in the other Dock
 * are timed and compared with quiet times, and the host's heartbeats and the agent's memory are measured.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { type Figure, percentile, sample } from '../../bench/figures.ts'
import { type BenchServer, print, residentMiB, withServer } from '../../bench/parts/bench-server.ts'
import { longestSilenceMs } from '../../bench/parts/longest-silence.ts'
import { processOf } from '../crash/processes.ts'
import { createDock, exec, run } from '../e2e/support/dock.ts'

const samples = Number(process.argv[2] ?? '40')
/** Stays below the limit of 120 commands per minute and Dock. */
const pauseMs = 520
const wanted = { ratio: 2, heartbeatMs: 3_000 + 1_000, agentGrowsMiB: 64 }

const hogs: Record<string, string> = {
  'fork bomb': 'bomb() { bomb | bomb & }; bomb; sleep 600',
  'memory hog': `while :; do perl -e '$hog = "x" x (1 << 31)'; done`,
  'disk filler': 'while :; do head -c 4G /dev/zero >big; rm big; done',
  'inode filler': `perl -e 'mkdir "f"; for (;;) { open F, ">", "f/".$n++ or $n = unlink(glob "f/*") * 0 }'`,
  'output flood': 'yes',
}

let missed = 0
const verdict = (holds: boolean): string => {
  if (!holds) missed += 1
  return holds ? 'holds' : 'MISSED'
}

const commandsIn = (server: BenchServer, id: string, name: string): Promise<Figure> =>
  sample(
    name,
    samples,
    async () => {
      await run(server, id, 'echo ready')
    },
    pauseMs,
  )

await withServer({ DOCK_WARM_POOL: '0' }, async (server) => {
  const agent = (await processOf('agent', server))!
  const neighbour = await createDock(server)
  const quiet = percentile(await commandsIn(server, neighbour.id, 'quiet'), 0.95)
  const before = await residentMiB(agent)
  print(`quiet: exec p95 ${quiet.toFixed(1)} ms, the agent uses ${before.toFixed(0)} MiB`)
  for (const [name, command] of Object.entries(hogs)) {
    const hog = await createDock(server)
    const work = exec(server, hog.id, command, { timeoutSeconds: 600 }).catch(() => undefined)
    await delay(1_000)
    const measured = commandsIn(server, neighbour.id, name)
    const silence = await longestSilenceMs(server, measured)
    const p95 = percentile(await measured, 0.95)
    const grown = (await residentMiB(agent)) - before
    await server.client.call('stopDock', { params: { id: hog.id }, body: { force: true } })
    await work
    print(
      `${name.padEnd(14)} exec p95 ${p95.toFixed(1).padStart(6)} ms, ${(p95 / quiet).toFixed(2)} times: ${verdict(p95 <= wanted.ratio * quiet)}; longest silence of the host ${silence} ms: ${verdict(silence <= wanted.heartbeatMs)}; the agent uses ${grown.toFixed(0)} MiB more: ${verdict(grown <= wanted.agentGrowsMiB)}`,
    )
  }
})
process.exitCode = missed === 0 ? 0 : 1
