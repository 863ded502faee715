import type { DockInfo } from '@dock/sdk'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { seriesQuery } from '../../api/queries.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { Empty } from '../../components/empty.tsx'
import { formatBytes, formatSpan } from '../../lib/format.ts'
import { UsagePlot } from './usage-plot.tsx'

const percent = (value: number): string => `${Math.round(value * 10) / 10} %`
const rate = (value: number): string => `${formatBytes(value)}/s`

/** Bytes a second between points. Null where the counter began again. */
const rates = (times: readonly number[], totals: readonly number[]): (number | null)[] =>
  totals.map((total, at) => {
    const before = totals[at - 1]
    if (before === undefined || total < before) return null
    return (total - before) / (times[at]! - times[at - 1]!)
  })

/** What the Dock is, and what it uses. */
export function OverviewTab({ dock }: { dock: DockInfo }) {
  const [window, setWindow] = useState<'1h' | '24h'>('1h')
  const series = useQuery(seriesQuery(dock.id, window))
  const plots = useMemo(() => {
    const points = series.data?.points ?? []
    const times = points.map(({ at }) => new Date(at).getTime() / 1000)
    const of = (key: 'cpuPercent' | 'memBytes' | 'diskBytes' | 'rxBytes' | 'txBytes') =>
      points.map((each) => each[key])
    return {
      times,
      cpu: [{ label: 'CPU', values: of('cpuPercent') }],
      memory: [{ label: 'Memory', values: of('memBytes') }],
      disk: [{ label: 'Disk', values: of('diskBytes') }],
      network: [
        { label: 'received', values: rates(times, of('rxBytes')) },
        { label: 'sent', values: rates(times, of('txBytes')) },
      ],
    }
  }, [series.data])
  const facts = [
    ['Image', dock.image],
    ['Size', `${dock.cpus} CPUs, ${formatBytes(dock.memoryMiB * 2 ** 20)} memory, ${dock.diskGiB} GiB disk`],
    ['Environment', dock.environment],
    ['Auto-stop', dock.ttlSeconds === null ? 'never' : `after ${formatSpan(dock.ttlSeconds * 1000)}`],
    ['Setup script', dock.setupError ?? dock.setupStatus],
    ['Id', dock.id],
  ] as const
  return (
    <div className="grid gap-4">
      <dl className="m-0 grid grid-cols-[auto_1fr] gap-x-6 gap-y-1.5 rounded-lg border border-line bg-panel p-4 text-sm">
        {facts.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-muted">{name}</dt>
            <dd className="m-0 min-w-0">{value}</dd>
          </div>
        ))}
      </dl>
      <fieldset aria-label="Time" className="m-0 flex gap-1 border-0 p-0">
        {(['1h', '24h'] as const).map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={each === window}
            onClick={() => setWindow(each)}
            className="h-8 cursor-pointer rounded border border-line bg-panel px-3 text-sm aria-pressed:bg-raised aria-pressed:font-medium"
          >
            {each === '1h' ? 'Last hour' : 'Last 24 hours'}
          </button>
        ))}
      </fieldset>
      {series.error && <ErrorAlert error={series.error} />}
      {series.data?.points.length === 0 && (
        <Empty
          title="Nothing measured yet"
          text="The first figures appear a minute after the Dock has booted."
        />
      )}
      {plots.times.length > 0 && (
        <div className="grid gap-3 md:grid-cols-2">
          <UsagePlot title="CPU" times={plots.times} lines={plots.cpu} format={percent} />
          <UsagePlot title="Memory" times={plots.times} lines={plots.memory} format={formatBytes} />
          <UsagePlot title="Disk" times={plots.times} lines={plots.disk} format={formatBytes} />
          <UsagePlot title="Network" times={plots.times} lines={plots.network} format={rate} />
        </div>
      )}
    </div>
  )
}
