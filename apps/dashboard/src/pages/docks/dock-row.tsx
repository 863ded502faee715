import type { ListedDock } from '@dock/sdk'
import { Link } from '@tanstack/react-router'
import { checkboxClass } from '../../components/field.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { RelativeTime, useNow } from '../../components/time.tsx'
import { countOf } from '../../lib/count-of.ts'
import { isReady } from '../../lib/dock-states.ts'
import { formatBytes, formatSpan } from '../../lib/format.ts'

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
  const size = (
    <>
      {countOf(dock.cpus, 'CPU')} · {formatBytes(dock.memoryMiB * 2 ** 20)}
      <span className="hidden sm:inline"> · {dock.diskGiB} GiB disk</span>
    </>
  )
  return (
    <div className="flex h-[64px] items-center gap-3 border-b border-line px-3 hover:bg-raised">
      <input
        type="checkbox"
        aria-label={`Select ${name}`}
        checked={props.isSelected}
        onChange={({ target }) => props.onSelect(target.checked)}
        className={checkboxClass}
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
          {dock.setupStatus === 'failed' && <span className="text-bad">setup failed · </span>}
          <span className="hidden sm:inline">{dock.image}</span>
          <span className="hidden sm:inline 2xl:hidden"> · </span>
          <span className="2xl:hidden">{size}</span>
        </p>
      </div>
      <p className="m-0 hidden w-60 shrink-0 truncate text-xs text-muted 2xl:block">{size}</p>
      <div className="hidden w-40 min-w-0 text-xs text-muted md:block 2xl:flex 2xl:w-96 2xl:gap-4">
        <p className="m-0 truncate 2xl:flex-1">
          <bdi>{dock.createdBy?.name ?? 'A former member'}</bdi>
        </p>
        <p className="m-0 truncate 2xl:flex-1">{dock.environment}</p>
      </div>
      <div className="min-w-24 shrink-0 text-right sm:w-32">
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
