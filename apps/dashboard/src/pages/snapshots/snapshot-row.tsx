import type { ListedSnapshot } from '@dock/sdk'
import { Link } from '@tanstack/react-router'
import { checkboxClass } from '../../components/field.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { formatBytes, formatExact, formatMoment } from '../../lib/format.ts'
import { visibleName } from '../../lib/visible-text.ts'
import { CopyState } from './copy-state.tsx'

/** Rows have this height in pixels. */
export const snapshotRowHeight = 60

/** A Snapshot that can be opened, and chosen for a comparison. In the list of one Dock its time is its name. */
export function SnapshotRow(props: {
  snapshot: ListedSnapshot
  isOfOneDock: boolean
  isChosen: boolean
  onChoose: (isChosen: boolean) => void
}) {
  const { snapshot } = props
  const isReadable = snapshot.status === 'completed'
  const time = formatExact(snapshot.createdAt)
  const name = props.isOfOneDock
    ? formatMoment(snapshot.createdAt)
    : visibleName(snapshot.dockName ?? snapshot.dockId)
  return (
    <div className="flex h-[60px] items-center gap-3 border-b border-line px-3 hover:bg-raised">
      <input
        type="checkbox"
        aria-label={`Choose the Snapshot of ${props.isOfOneDock ? time : `${name} from ${time}`}`}
        checked={props.isChosen}
        disabled={!isReadable}
        onChange={({ target }) => props.onChoose(target.checked)}
        className={checkboxClass}
      />
      <div className="min-w-0 flex-1">
        <p className="m-0 truncate text-sm font-medium">
          {isReadable ? (
            <Link to="/snapshots/$id" params={{ id: snapshot.id }} search={{}} className="hover:underline">
              <bdi>{name}</bdi>
            </Link>
          ) : (
            <bdi>{name}</bdi>
          )}
        </p>
        <p className="m-0 truncate text-xs">
          <CopyState snapshot={snapshot} />
          {snapshot.afterPowerCut && (
            <span className="text-wait"> Its machine did not answer: as after a power cut</span>
          )}
        </p>
      </div>
      <div className="shrink-0 text-right text-xs text-muted">
        <p className={`m-0 truncate ${props.isOfOneDock ? 'hidden sm:block' : ''}`}>
          <RelativeTime at={snapshot.createdAt} />
        </p>
        <p className="m-0 truncate">{isReadable ? formatBytes(snapshot.sizeBytes) : ''}</p>
      </div>
    </div>
  )
}
