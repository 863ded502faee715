import type { DockInfo } from '@dock/sdk'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { seriesQuery } from '../../api/dock-queries.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { Empty } from '../../components/empty.tsx'
import { Facts, Panel } from '../../components/page.tsx'
import { Segments } from '../../components/tabs.tsx'
import { countOf } from '../../lib/count-of.ts'
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

const windows = [
  { value: '1h', label: 'Last hour' },
  { value: '24h', label: 'Last 24 hours' },
] as const

const spans = { '1h': 3600, '24h': 86_400 } as const

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
    ['Runtime', dock.runtime],
    [
      'Size',
      `${countOf(dock.cpus, 'CPU')}, ${formatBytes(dock.memoryMiB * 2 ** 20)} memory, ${dock.diskGiB} GiB disk`,
    ],
    ['Environment', dock.environment],
    ['Auto-stop', dock.ttlSeconds === null ? 'never' : `after ${formatSpan(dock.ttlSeconds * 1000)}`],
    ['Setup script', dock.setupError ?? dock.setupStatus],
    [
      'Id',
      <code key="id" className="font-mono text-xs">
        {dock.id}
      </code>,
    ],
  ] as const
  return (
    <div className="grid gap-4">
      <Panel>
        <Facts facts={facts} />
      </Panel>
      <Segments
        label="Time"
        value={window}
        options={windows}
        onChange={setWindow}
        className="justify-self-start"
      />
      {series.error && <ErrorAlert error={series.error} />}
      {series.data?.points.length === 0 && (
        <Empty
          title="Nothing measured yet"
          text="The first figures appear a minute after the Dock has booted."
        />
      )}
      {plots.times.length > 0 && (
        <div className="grid gap-3 md:grid-cols-2 min-[2000px]:grid-cols-4">
          {[
            { title: 'CPU', lines: plots.cpu, format: percent },
            { title: 'Memory', lines: plots.memory, format: formatBytes, isBytes: true },
            { title: 'Disk', lines: plots.disk, format: formatBytes, isBytes: true },
            { title: 'Network', lines: plots.network, format: rate, isBytes: true },
          ].map((plot) => (
            <UsagePlot key={plot.title} times={plots.times} spanSeconds={spans[window]} {...plot} />
          ))}
        </div>
      )}
    </div>
  )
}
