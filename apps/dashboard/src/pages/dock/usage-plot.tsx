import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { formatClock } from '../../lib/format.ts'
import { useIsDark } from '../../lib/theme.ts'

export type Line = { label: string; values: (number | null)[] }

const byteSteps = Array.from({ length: 50 }, (_, power) => 2 ** power)
const colors = ['--accent', '--wait'] as const
const cssColor = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/** A plot of one or two lines over time. `times` are seconds since 1970. */
export function UsagePlot(props: {
  title: string
  times: number[]
  lines: Line[]
  format: (value: number) => string
  /** The values are bytes: the lines of the plot then stand at 256 MiB, and not at 238. */
  isBytes?: boolean
}) {
  const { title, times, lines, format, isBytes = false } = props
  const box = useRef<HTMLDivElement>(null)
  const isDark = useIsDark()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours are those of the theme.
  useEffect(() => {
    const element = box.current!
    const axis = { stroke: cssColor('--muted'), grid: { stroke: cssColor('--line'), width: 1 } }
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: 150,
        legend: { show: lines.length > 1 },
        scales: { y: { range: (_, __, max) => [0, Math.max(max * 1.1, 1e-9)] } },
        axes: [
          { ...axis, values: (_, ticks) => ticks.map((seconds) => formatClock(seconds * 1000)) },
          {
            ...axis,
            size: 72,
            ...(isBytes ? { incrs: byteSteps } : {}),
            values: (_, ticks) => ticks.map(format),
          },
        ],
        series: [
          {},
          ...lines.map(({ label }, at) => ({
            label,
            stroke: cssColor(colors[at] ?? '--accent'),
            width: 1.5,
            value: (_: uPlot, value: number | null) => (value === null ? '–' : format(value)),
          })),
        ],
      },
      [times, ...lines.map(({ values }) => values)] as uPlot.AlignedData,
      element,
    )
    const watcher = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: 150 }))
    watcher.observe(element)
    return () => {
      watcher.disconnect()
      plot.destroy()
    }
  }, [times, lines, format, isBytes, isDark])
  const latest = lines.map(({ label, values }) => {
    const value = values.findLast((each) => each !== null)
    return value === undefined || value === null
      ? ''
      : `${lines.length > 1 ? `${label} ` : ''}${format(value)}`
  })
  return (
    <figure className="m-0 min-w-0 rounded-lg border border-line bg-panel p-3">
      <figcaption className="mb-1 flex justify-between gap-2 text-sm font-medium">
        {title} <span className="font-normal text-muted">{latest.filter(Boolean).join(', ')}</span>
      </figcaption>
      <div ref={box} aria-hidden="true" />
    </figure>
  )
}
