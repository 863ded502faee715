import { useEffect, useRef, useState } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { formatClock } from '../../lib/format.ts'
import { useIsDark } from '../../lib/theme.ts'

export type Line = { label: string; values: (number | null)[] }

const byteSteps = Array.from({ length: 50 }, (_, power) => 2 ** power)
const colors = ['--accent', '--wait'] as const
const swatches = ['bg-accent', 'bg-wait'] as const
/** Wide enough for a time of day in every language, such as 12:00 AM. */
const tickSpace = 90
const cssColor = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim()

/**
 * A plot of one or two lines over time. `times` are seconds since 1970; the plot shows all of `spanSeconds`, so that a Dock
 * that was measured for a minute has no minute as wide as the page.
 */
export function UsagePlot(props: {
  title: string
  times: number[]
  spanSeconds: number
  lines: Line[]
  format: (value: number) => string
  /** The values are bytes: the lines of the plot then stand at 256 MiB, and not at 238. */
  isBytes?: boolean
}) {
  const { title, times, spanSeconds, lines, format, isBytes = false } = props
  const [hovered, setHovered] = useState<number | null>(null)
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
        legend: { show: false },
        cursor: { y: false },
        hooks: { setCursor: [({ cursor }) => setHovered(cursor.idx ?? null)] },
        scales: {
          x: { range: (_, __, latest) => [latest - spanSeconds, latest] },
          y: { range: (_, __, max) => [0, Math.max(max * 1.1, isBytes ? 1024 : 1)] },
        },
        axes: [
          {
            ...axis,
            space: tickSpace,
            values: (_, ticks) => ticks.map((seconds) => formatClock(seconds * 1000)),
          },
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
            // A single sample makes no line.
            points: { show: times.length < 3 },
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
  }, [times, spanSeconds, lines, format, isBytes, isDark])
  const shown = lines.map(({ label, values }, at) => {
    const value = hovered === null ? values.findLast((each) => each !== null) : values[hovered]
    return { label, swatch: swatches[at] ?? swatches[0], text: value == null ? '–' : format(value) }
  })
  const at = hovered === null ? undefined : times[hovered]
  return (
    <figure className="m-0 min-w-0 rounded-lg border border-line bg-panel p-3">
      <figcaption className="mb-1 flex flex-wrap items-baseline justify-between gap-x-3 text-sm font-medium">
        {title}
        <span className="flex flex-wrap items-baseline gap-x-3 font-normal text-muted">
          {at !== undefined && <span className="text-xs">{formatClock(at * 1000)}</span>}
          {shown.map(({ label, swatch, text }) => (
            <span key={label} className="inline-flex items-baseline gap-1.5">
              {lines.length > 1 && (
                <>
                  <span aria-hidden="true" className={`inline-block h-0.5 w-3 self-center ${swatch}`} />
                  {label}
                </>
              )}
              <span>{text}</span>
            </span>
          ))}
        </span>
      </figcaption>
      <div ref={box} aria-hidden="true" />
    </figure>
  )
}
