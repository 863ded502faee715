import type { DockInfo } from '@dock/sdk'
import { useQuery } from '@tanstack/react-query'
import { lastStopQuery } from '../../api/dock-queries.ts'
import { RelativeTime } from '../../components/time.tsx'
import { visibleLines } from '../../lib/visible-text.ts'

/** Who or what stopped the Dock, why and when. */
export function LastStop({ dock }: { dock: DockInfo }) {
  const { data: stop } = useQuery(lastStopQuery(dock))
  if (!stop) return null
  return (
    <p data-part="last-stop" className="m-0 text-sm">
      <bdi className="break-words">{visibleLines(stop.message)}</bdi>{' '}
      <span className="whitespace-nowrap text-xs text-muted">
        <RelativeTime at={stop.at} />
      </span>
    </p>
  )
}
