/** One line that shows a transfer: bar, bytes, rate, and the time that is left. */
import { formatBytes, formatSeconds } from './formats.ts'
import { shortened } from './table.ts'

const barCells = 20

/** Returns the line. Without a total there is neither bar nor time left. */
export function transferLine(
  { label, done, total, elapsedMs }: { label: string; done: number; total: number | null; elapsedMs: number },
  width: number,
): string {
  const rate = elapsedMs > 0 ? (done * 1000) / elapsedMs : 0
  const parts = [formatBytes(done)]
  if (total !== null) {
    const share = total === 0 ? 1 : Math.min(1, done / total)
    const full = Math.round(share * barCells)
    parts[0] = `${'█'.repeat(full)}${'░'.repeat(barCells - full)} ${formatBytes(done)} of ${formatBytes(total)}`
  }
  parts.push(`${formatBytes(rate)}/s`)
  if (total !== null && rate > 0 && done < total) parts.push(`${formatSeconds((total - done) / rate)} left`)
  const facts = parts.join('  ')
  const room = width - facts.length - 2
  return room >= 8 ? `${shortened(label, room)}  ${facts}` : shortened(facts, width)
}
