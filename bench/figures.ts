/** Samples in milliseconds, and their output. */
import { setTimeout as delay } from 'node:timers/promises'

export type Figure = { name: string; samplesMs: number[] }

/** Runs `work` `count` times in sequence, with a pause before each, and returns the durations. */
export async function sample(
  name: string,
  count: number,
  work: (index: number) => Promise<void>,
  pauseMs = 0,
): Promise<Figure> {
  const samplesMs: number[] = []
  for (let index = 0; index < count; index++) {
    if (pauseMs > 0) await delay(pauseMs)
    const begin = performance.now()
    await work(index)
    samplesMs.push(performance.now() - begin)
  }
  return { name, samplesMs }
}

/** Returns the nearest-rank percentile. `share` is from 0 to 1. NaN if there are no samples. */
export function percentile({ samplesMs }: Figure, share: number): number {
  const sorted = [...samplesMs].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}

const allowedRatio = 1.25
const allowanceMs = 15

/** Returns a line of the table: the service's figure, the raw figure, and whether p50 ≤ 1.25 × raw + 15 ms. */
export function compare(ours: Figure, raw: Figure | undefined): string {
  const [p50, p95] = [percentile(ours, 0.5), percentile(ours, 0.95)]
  const own = `${ours.name.padEnd(34)} n=${String(ours.samplesMs.length).padEnd(4)} p50 ${p50.toFixed(1).padStart(7)}  p95 ${p95.toFixed(1).padStart(7)} ms`
  if (!raw) return own
  const rawP50 = percentile(raw, 0.5)
  const holds = p50 <= rawP50 * allowedRatio + allowanceMs ? 'holds' : 'MISSED'
  return `${own}   raw p50 ${rawP50.toFixed(1).padStart(7)}  p95 ${percentile(raw, 0.95).toFixed(1).padStart(7)}  ratio ${(p50 / rawP50).toFixed(2)}  ${holds}`
}
