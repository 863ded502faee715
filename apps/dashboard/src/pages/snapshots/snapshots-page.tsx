import type { ListedSnapshot } from '@dock/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import { allSnapshotsQuery } from '../../api/snapshot-queries.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { Button } from '../../components/button.tsx'
import { Empty } from '../../components/empty.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { VirtualList } from '../../components/virtual-list.tsx'
import { formatBytes } from '../../lib/format.ts'
import { visibleName } from '../../lib/visible-text.ts'
import { CopyState } from './copy-state.tsx'

const route = getRouteApi('/shell/snapshots')
const rowHeight = 60

function Row(props: { snapshot: ListedSnapshot; isChosen: boolean; onChoose: (isChosen: boolean) => void }) {
  const { snapshot } = props
  const name = visibleName(snapshot.dockName ?? snapshot.dockId)
  const isReadable = snapshot.status === 'completed'
  return (
    <div className="flex h-[60px] items-center gap-3 border-b border-line px-3 hover:bg-raised">
      <input
        type="checkbox"
        aria-label={`Choose the Snapshot of ${name} from ${snapshot.createdAt}`}
        checked={props.isChosen}
        disabled={!isReadable}
        onChange={({ target }) => props.onChoose(target.checked)}
        className="size-4 shrink-0"
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
        </p>
      </div>
      <div className="w-28 shrink-0 text-right text-xs text-muted">
        <p className="m-0 truncate">
          <RelativeTime at={snapshot.createdAt} />
        </p>
        <p className="m-0 truncate">{isReadable ? formatBytes(snapshot.sizeBytes) : ''}</p>
      </div>
    </div>
  )
}

/** The Snapshots of all Docks, newest first. Two of them can be compared. */
export function SnapshotsPage() {
  const { dock } = route.useSearch()
  const navigate = useNavigate()
  const [chosen, setChosen] = useState<readonly ListedSnapshot[]>([])
  const listed = useInfiniteQuery(allSnapshotsQuery(dock))
  const snapshots = listed.data?.pages.flatMap((page) => page.snapshots) ?? []
  const { fetchNextPage } = listed
  const showMore = useCallback(() => void fetchNextPage(), [fetchNextPage])
  const compare = (): void => {
    const [before, after] = chosen.toSorted((one, other) => one.createdAt.localeCompare(other.createdAt))
    if (before && after)
      void navigate({ to: '/snapshots/$id/diff/$to', params: { id: before.id, to: after.id } })
  }
  return (
    <main className="mx-auto grid max-w-5xl gap-4 p-4">
      <div className="flex flex-wrap items-center gap-3">
        <h1 className="m-0 mr-auto text-xl font-semibold">Snapshots</h1>
        {dock !== undefined && (
          <Link to="/snapshots" search={{}} className="text-sm text-accent underline">
            Show those of all Docks
          </Link>
        )}
        <Button disabled={chosen.length !== 2} onClick={compare}>
          Compare two
        </Button>
      </div>
      {listed.error && <ErrorAlert error={listed.error} />}
      {listed.isPending && !listed.error && <p className="m-0 text-sm text-muted">Loading…</p>}
      {listed.data && snapshots.length === 0 && (
        <Empty
          title="No Snapshots yet"
          text="When a Dock stops, its disk is kept as a Snapshot. You can look into it, get files back, and compare two."
        />
      )}
      {snapshots.length > 0 && (
        <VirtualList
          label="Snapshots"
          items={snapshots}
          keyOf={({ id }) => id}
          rowHeight={rowHeight}
          hasMore={listed.hasNextPage && !listed.isFetchingNextPage}
          onMore={showMore}
        >
          {(snapshot) => (
            <Row
              snapshot={snapshot}
              isChosen={chosen.some(({ id }) => id === snapshot.id)}
              onChoose={(isChosen) =>
                setChosen((before) => [
                  ...before.filter(({ id }) => id !== snapshot.id).slice(isChosen ? -1 : -2),
                  ...(isChosen ? [snapshot] : []),
                ])
              }
            />
          )}
        </VirtualList>
      )}
    </main>
  )
}
