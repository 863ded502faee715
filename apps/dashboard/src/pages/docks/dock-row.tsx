import type { ListedDock } from '@dock/sdk'
import { Link } from '@tanstack/react-router'
import { StateBadge } from '../../components/state-badge.tsx'
import { RelativeTime, useNow } from '../../components/time.tsx'
import { isReady } from '../../lib/dock-states.ts'
import { formatSpan } from '../../lib/format.ts'

/** When the Dock stops by itself. */
function AutoStop({ at }: { at: string }) {
  const now = useNow()
  return <>stops in {formatSpan(new Date(at).getTime() - now)}</>
}

export function DockRow(props: {
  dock: ListedDock
  isSelected: boolean
  onSelect: (selected: boolean) => void
}) {
  const { dock } = props
  const name = dock.name ?? dock.id
  return (
    <div className="flex h-[64px] items-center gap-3 border-b border-line px-3 hover:bg-raised">
      <input
        type="checkbox"
        aria-label={`Select ${name}`}
        checked={props.isSelected}
        onChange={({ target }) => props.onSelect(target.checked)}
        className="size-4 shrink-0"
      />
      <div className="min-w-0 flex-1">
        <Link
          to="/docks/$id"
          params={{ id: dock.id }}
          search={{}}
          className="block truncate text-sm font-medium hover:underline"
        >
          <bdi>{name}</bdi>
        </Link>
        <p className="m-0 truncate text-xs text-muted">
          {dock.image} · {dock.cpus} CPUs · {dock.memoryMiB / 1024} GiB · {dock.diskGiB} GiB disk
        </p>
      </div>
      <div className="hidden w-40 min-w-0 text-xs text-muted md:block">
        <p className="m-0 truncate">
          <bdi>{dock.createdBy?.name ?? 'A former member'}</bdi>
        </p>
        <p className="m-0 truncate">{dock.environment}</p>
      </div>
      <div className="w-28 shrink-0 text-right">
        <StateBadge state={dock.state} />
        <p className="m-0 truncate text-xs text-muted">
          {isReady(dock.state) && dock.stopAt ? (
            <AutoStop at={dock.stopAt} />
          ) : (
            <RelativeTime at={dock.stateChangedAt} />
          )}
        </p>
      </div>
    </div>
  )
}
