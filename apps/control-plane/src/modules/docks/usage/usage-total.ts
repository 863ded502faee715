/** Usage over a span of time, as sums and peaks. Totals of different spans can be added. */
import type { DockStats } from '@dock/contract'
import type { UsageSample } from '../../hosts/index.ts'

export const usageMetrics = ['cpuPercent', 'memBytes', 'memLimit', 'diskBytes', 'rxBytes', 'txBytes'] as const
export type UsageMetric = (typeof usageMetrics)[number]
type Figures = Record<UsageMetric, number>

export type UsageTotal = { samples: number; sum: Figures; peak: Figures }

const figures = (of: (metric: UsageMetric) => number): Figures => ({
  cpuPercent: of('cpuPercent'),
  memBytes: of('memBytes'),
  memLimit: of('memLimit'),
  diskBytes: of('diskBytes'),
  rxBytes: of('rxBytes'),
  txBytes: of('txBytes'),
})

export const noUsage: UsageTotal = { samples: 0, sum: figures(() => 0), peak: figures(() => 0) }

/** Converts one sample to a total. */
export function totalOf(sample: UsageSample): UsageTotal {
  const each = figures((metric) => sample[metric])
  return { samples: 1, sum: each, peak: each }
}

/** Adds two totals; peaks are the larger of both. */
export function addTotals(a: UsageTotal, b: UsageTotal): UsageTotal {
  return {
    samples: a.samples + b.samples,
    sum: figures((metric) => a.sum[metric] + b.sum[metric]),
    peak: figures((metric) => Math.max(a.peak[metric], b.peak[metric])),
  }
}

/** Converts a total to the averages and peaks that callers see. Byte averages are rounded. */
export function viewTotal(
  window: '1h' | '24h',
  { samples, sum, peak }: UsageTotal,
): NonNullable<DockStats['window']> {
  const average = figures((metric) => (samples === 0 ? 0 : sum[metric] / samples))
  const avg = figures((metric) => (metric === 'cpuPercent' ? average[metric] : Math.round(average[metric])))
  return { window, samples, avg, peak }
}
