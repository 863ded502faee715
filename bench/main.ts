/**
 * Measures Dock and compares it with the same work done with plain tools in the same run. TTI follows the ComputeSDK
 * protocol: create and first exec of `echo ready`, from the request to the response; each Dock is deleted before the
 * next.
 *
 *   script/bench main [PART …]     parts: cold warm burst idle podman runtimes; the default is all
 *
 * DOCK_BENCH_TTI (100) and DOCK_BENCH_COUNT (20) set the number of samples. DOCK_BENCH_LARGE=1 adds disks with 5 GB.
 * DOCK_BENCH_IDLE (100) is the number of idle Docks.
 */
import { print } from './parts/bench-server.ts'
import { benchBurst } from './parts/burst.ts'
import { benchCold } from './parts/cold.ts'
import { benchIdle } from './parts/idle.ts'
import { benchPodman } from './parts/podman.ts'
import { benchRuntimes } from './parts/runtimes.ts'
import { benchWarm } from './parts/warm.ts'

const number = (name: string, fallback: number): number => Number(process.env[name] ?? fallback)
const ttis = number('DOCK_BENCH_TTI', 100)
const count = number('DOCK_BENCH_COUNT', 20)
/** Stays below the limit of 120 commands per minute and Dock. */
const execs = Math.min(ttis, 110)

const parts: Readonly<Record<string, () => Promise<void>>> = {
  cold: () => benchCold({ ttis, execs, count, large: process.env.DOCK_BENCH_LARGE === '1' }),
  warm: () => benchWarm({ full: Math.ceil(ttis / 4), sequential: ttis }),
  burst: benchBurst,
  idle: () => benchIdle(number('DOCK_BENCH_IDLE', 100)),
  podman: () => benchPodman(count),
  runtimes: () => benchRuntimes(count),
}

const wanted = process.argv.slice(2)
const unknown = wanted.find((name) => !(name in parts))
if (unknown !== undefined) {
  process.stderr.write(`There is no part ${unknown}. Parts: ${Object.keys(parts).join(', ')}\n`)
  process.exit(2)
}
for (const [name, part] of Object.entries(parts)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  print(`\n== ${name}`)
  await part()
}
