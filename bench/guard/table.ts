/** The table of a comparison, in Markdown. */
import { percentile } from '../figures.ts'
import { type Comparison, compareRounds, median } from './compare-rounds.ts'
import { type Costs, totalCpuMs } from './costs.ts'
import type { Line, Round } from './records.ts'

const header = [
  '| | n | base p10 / p25 / p50 / p95 | now | now ÷ base (9 of 10) | | processor ms of a request: control plane + agent + PostgreSQL + sandboxes | now ÷ base | | SQL | reads and writes of the agent | its system calls |',
  '|---|---|---|---|---|---|---|---|---|---|---|---|',
]

/** Returns a number with about three digits. */
export function threeDigits(value: number): string {
  if (!Number.isFinite(value)) return ''
  const digits = value === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))))
  return value.toFixed(Math.min(digits, 3))
}

const percentiles = (rounds: readonly Round[]): string => {
  const samplesMs = rounds.flatMap(({ samples }) => samples)
  return [0.1, 0.25, 0.5, 0.95]
    .map((share) => threeDigits(percentile({ name: '', samplesMs }, share)))
    .join(' / ')
}

const ratioOf = ({ ratio, low, high }: Comparison): string =>
  Number.isFinite(high) ? `${ratio.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})` : ratio.toFixed(2)

/** Returns the middle of the rounds' costs. */
const costsOf = (rounds: readonly Round[]): Costs | undefined => {
  const all = rounds.flatMap(({ costs }) => (costs ? [costs] : []))
  if (all.length === 0) return undefined
  const names = Object.keys(all[0]!) as (keyof Costs)[]
  return Object.fromEntries(names.map((name) => [name, median(all.map((each) => each[name]))])) as Costs
}

const cpu = (costs: Costs): string => {
  const parts = [costs.controlPlane, costs.agent, costs.postgres, costs.sandboxes].map(threeDigits)
  return `${threeDigits(totalCpuMs(costs))} (${parts.join(' + ')})`
}

const systemCallsOf = (rounds: readonly Round[]): string =>
  rounds.flatMap(({ systemCalls }) => (systemCalls === undefined ? [] : [systemCalls.toFixed(0)]))[0] ?? ''

/** What the table says about a line. `verdicts` are those of its time (or memory) and of its processor time. */
export type Row = { text: string; verdicts: { time?: Comparison; cpu?: Comparison } }

export function rowOf({ name, unit, rounds: { base, now } }: Line, countsStatements: boolean): Row {
  const cells: string[] = [unit === 'ms' ? name : `${name}, ${unit}`]
  const verdicts: Row['verdicts'] = {}
  const count = now.flatMap(({ samples }) => samples).length
  if (count > 0) {
    const medians = (rounds: readonly Round[]) => rounds.map(({ samples }) => median(samples))
    verdicts.time = compareRounds(medians(base), medians(now))
    cells.push(
      String(count),
      percentiles(base),
      percentiles(now),
      ratioOf(verdicts.time),
      verdicts.time.verdict,
    )
  } else cells.push('', '', '', '', '')
  const [baseCosts, nowCosts] = [costsOf(base), costsOf(now)]
  if (baseCosts && nowCosts) {
    const totals = (rounds: readonly Round[]) =>
      rounds.map(({ costs }) => (costs ? totalCpuMs(costs) : Number.NaN))
    verdicts.cpu = compareRounds(totals(base), totals(now))
    const pair = (of: (costs: Costs) => number, digits: number): string =>
      `${of(baseCosts).toFixed(digits)} → ${of(nowCosts).toFixed(digits)}`
    const calls = [base, now].map(systemCallsOf)
    cells.push(
      `${cpu(baseCosts)} → ${cpu(nowCosts)}`,
      ratioOf(verdicts.cpu),
      verdicts.cpu.verdict,
      countsStatements ? pair(({ statements }) => statements, 1) : '',
      pair(({ calls }) => calls, 0),
      calls.every((each) => each !== '') ? calls.join(' → ') : '',
    )
  } else cells.push('', '', '', '', '', '')
  return { text: `| ${cells.join(' | ')} |`, verdicts }
}

/** Returns the table, and the names of the lines that are worse. */
export function writeTable(
  lines: readonly Line[],
  countsStatements: boolean,
): { text: string; worse: string[] } {
  const rows = lines.map((line) => ({ name: line.name, row: rowOf(line, countsStatements) }))
  const worse = rows.flatMap(({ name, row: { verdicts } }) => [
    ...(verdicts.time?.verdict === 'worse' ? [name] : []),
    ...(verdicts.cpu?.verdict === 'worse' ? [`${name} (processor time)`] : []),
  ])
  return { text: [...header, ...rows.map(({ row }) => row.text)].join('\n'), worse }
}
