import type { ListedSnapshot } from '@dock/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import { allSnapshotsQuery } from '../../api/snapshot-queries.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { Button } from '../../components/button.tsx'
import { Empty } from '../../components/empty.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { VirtualList } from '../../components/virtual-list.tsx'
import { useCurrentOrganization } from '../../lib/current-organization.ts'
import { SnapshotRow, snapshotRowHeight } from './snapshot-row.tsx'

/** Snapshots of one Dock, or of all of the organization, newest first. Two of them can be compared. */
export function SnapshotList({ dockId, emptyText }: { dockId: string | undefined; emptyText: string }) {
  const navigate = useNavigate()
  const [chosen, setChosen] = useState<readonly ListedSnapshot[]>([])
  const { organization, hasNone } = useCurrentOrganization()
  const listed = useInfiniteQuery({
    ...allSnapshotsQuery(dockId === undefined ? { organizationId: organization?.id } : { dockId }),
    enabled: dockId !== undefined || organization !== undefined || hasNone,
  })
  const snapshots = listed.data?.pages.flatMap((page) => page.snapshots) ?? []
  const { fetchNextPage } = listed
  const showMore = useCallback(() => void fetchNextPage(), [fetchNextPage])
  const compare = (): void => {
    const [before, after] = chosen.toSorted((one, other) => one.createdAt.localeCompare(other.createdAt))
    if (before && after)
      void navigate({ to: '/snapshots/$id/diff/$to', params: { id: before.id, to: after.id } })
  }
  if (listed.error) return <ErrorAlert error={listed.error} />
  if (listed.isPending) return <Skeleton lines={5} />
  if (snapshots.length === 0) return <Empty title="No Snapshots yet" text={emptyText} />
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <p className="m-0 text-sm text-muted">
          Open one to look at its files and get them back, or choose two to see what changed.
        </p>
        <Button
          disabled={chosen.length !== 2}
          title={chosen.length === 2 ? undefined : 'Choose two Snapshots first.'}
          onClick={compare}
        >
          Compare two
        </Button>
      </div>
      <VirtualList
        label="Snapshots"
        items={snapshots}
        keyOf={({ id }) => id}
        rowHeight={snapshotRowHeight}
        hasMore={listed.hasNextPage && !listed.isFetchingNextPage}
        onMore={showMore}
      >
        {(snapshot) => (
          <SnapshotRow
            snapshot={snapshot}
            isOfOneDock={dockId !== undefined}
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
    </div>
  )
}
