import type { ListedSnapshot } from '@dock/sdk'
import { RelativeTime } from '../../components/time.tsx'

/** Whether the Snapshot has a durable copy, and when every byte of it was last read back. */
export function CopyState({ snapshot }: { snapshot: Pick<ListedSnapshot, 'status' | 'copy'> }) {
  const { copy, status } = snapshot
  if (status !== 'completed') return <span className="text-muted">{status}</span>
  if (copy === null) return <span className="text-wait">Not copied yet</span>
  if (copy.damagedAt !== null)
    return (
      <span className="text-bad">
        Copy found damaged <RelativeTime at={copy.damagedAt} />
      </span>
    )
  return (
    <span className="text-good">
      Copy proven <RelativeTime at={copy.provenAt} />
    </span>
  )
}
