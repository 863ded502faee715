import { useQuery } from '@tanstack/react-query'
import { snapshotsQuery } from '../../api/queries.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { Empty } from '../../components/empty.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { formatBytes } from '../../lib/format.ts'

/** The Snapshots of a Dock, newest first. */
export function SnapshotsTab({ dockId }: { dockId: string }) {
  const { data, error } = useQuery(snapshotsQuery(dockId))
  if (error) return <ErrorAlert error={error} />
  if (data?.snapshots.length === 0)
    return <Empty title="No Snapshots yet" text="Stop the Dock, and its disk is kept as a Snapshot." />
  return (
    <ul className="m-0 grid list-none p-0">
      {data?.snapshots.map((snapshot) => (
        <li
          key={snapshot.id}
          className="flex flex-wrap items-center gap-3 border-b border-line py-2.5 text-sm"
        >
          <span className="w-28 shrink-0 text-xs text-muted">
            <RelativeTime at={snapshot.createdAt} />
          </span>
          <code className="min-w-0 flex-1 truncate font-mono text-xs">{snapshot.id}</code>
          <span>{snapshot.status === 'completed' ? formatBytes(snapshot.sizeBytes) : snapshot.status}</span>
          {snapshot.status === 'completed' && (
            <a className="text-accent underline" href={`/v1/snapshots/${snapshot.id}/download`}>
              Download
            </a>
          )}
        </li>
      ))}
    </ul>
  )
}
