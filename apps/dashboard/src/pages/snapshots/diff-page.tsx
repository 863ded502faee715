import type { SnapshotChange } from '@dock/sdk'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useCallback, useEffect } from 'react'
import { listedSnapshotQuery, snapshotDiffQuery } from '../../api/snapshot-queries.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { Empty } from '../../components/empty.tsx'
import { Page } from '../../components/page.tsx'
import { VirtualList } from '../../components/virtual-list.tsx'
import { nameIn, parentOf, toAddress } from '../../lib/dock-path.ts'
import { formatBytes, formatMoment } from '../../lib/format.ts'
import { visibleName } from '../../lib/visible-text.ts'

const route = getRouteApi('/shell/snapshots/$id/diff/$to')

/** Changes that are read without asking. More come as the list is scrolled. */
const readAheadMax = 2_000
const rowHeight = 40

const words: Record<SnapshotChange['differences'][number], { sign: string; look: string; text: string }> = {
  added: { sign: '+', look: 'text-good', text: 'added' },
  removed: { sign: '−', look: 'text-bad', text: 'removed' },
  type: { sign: '~', look: 'text-wait', text: 'type' },
  contents: { sign: '~', look: 'text-wait', text: 'contents' },
  mode: { sign: '~', look: 'text-wait', text: 'mode' },
  owner: { sign: '~', look: 'text-wait', text: 'owner' },
}

const detailOf = ({ before, after, differences }: SnapshotChange): string =>
  differences
    .map((each) => {
      if (each === 'mode') return `mode ${before?.mode} → ${after?.mode}`
      if (each === 'type') return `${before?.type} → ${after?.type}`
      if (each === 'contents') {
        const [one, other] = [before?.size ?? 0, after?.size ?? 0]
        return one === other ? 'contents' : `${formatBytes(one)} → ${formatBytes(other)}`
      }
      const side = after ?? before
      return side?.type === 'file' ? `${words[each].text}, ${formatBytes(side.size)}` : words[each].text
    })
    .join(', ')

function Row({ change, id, to }: { change: SnapshotChange; id: string; to: string }) {
  const { sign, look } = words[change.differences[0]!]
  const isFile = (change.after ?? change.before)?.type === 'file'
  const path = <bdi>{visibleName(change.path)}</bdi>
  return (
    <div className="flex h-[40px] items-center gap-3 border-b border-line px-3 text-sm hover:bg-raised">
      <span aria-hidden="true" className={`w-3 shrink-0 font-mono ${look}`}>
        {sign}
      </span>
      <span className="min-w-0 flex-1 truncate font-mono text-xs">
        {isFile ? (
          <Link
            to="/snapshots/$id"
            params={{ id: change.after ? to : id }}
            search={{ path: toAddress(parentOf(change.path)), file: nameIn(change.path) }}
            preload={false}
            className="hover:underline"
          >
            {path}
          </Link>
        ) : (
          path
        )}
      </span>
      <span className="max-w-[45%] shrink-0 truncate text-xs text-muted">{detailOf(change)}</span>
    </div>
  )
}

/** A link to a Snapshot, named by its Dock and its time. */
function SnapshotName({ id }: { id: string }) {
  const { data } = useQuery(listedSnapshotQuery(id))
  return (
    <Link to="/snapshots/$id" params={{ id }} search={{}} title={id} className="break-words underline">
      {data ? (
        <>
          of <bdi>{visibleName(data.dockName ?? data.dockId)}</bdi>, {formatMoment(data.createdAt)}
        </>
      ) : (
        id
      )}
    </Link>
  )
}

/** What differs between two Snapshots: type, mode, owner and every byte. Nothing wakes. */
export function DiffPage() {
  const { id, to } = route.useParams()
  const diff = useInfiniteQuery(snapshotDiffQuery(id, to))
  const pages = diff.data?.pages ?? []
  const changes = pages.flatMap((page) => page.changes)
  const visited = pages.reduce((sum, page) => sum + page.visited, 0)
  const { fetchNextPage, hasNextPage, isFetchingNextPage, error } = diff
  const readsOn = hasNextPage && !isFetchingNextPage && !error
  const isAhead = changes.length >= readAheadMax
  useEffect(() => {
    if (readsOn && !isAhead) void fetchNextPage()
  }, [readsOn, isAhead, fetchNextPage])
  const showMore = useCallback(() => void fetchNextPage(), [fetchNextPage])
  return (
    <Page
      title="What changed"
      back={
        <Link to="/snapshots" search={{}}>
          Snapshots
        </Link>
      }
    >
      <p className="m-0 text-sm text-muted">
        From the Snapshot <SnapshotName id={id} /> to <SnapshotName id={to} />
      </p>
      {error && <ErrorAlert error={error} />}
      <p role="status" className="m-0 text-sm">
        {hasNextPage || diff.isPending
          ? `Comparing… ${visited} files and folders so far, ${changes.length} differ`
          : `${changes.length} of ${visited} files and folders ${changes.length === 1 ? 'differs' : 'differ'}.`}
      </p>
      {pages.some(({ hasUnlisted }) => hasUnlisted) && (
        <p className="m-0 text-sm text-wait">
          Names with a line break, and files in very many pieces, are not compared.
        </p>
      )}
      {diff.isSuccess && !hasNextPage && changes.length === 0 && (
        <Empty
          title="Nothing differs"
          text="Both have the same files, with the same bytes, modes and owners."
        />
      )}
      {changes.length > 0 && (
        <VirtualList
          label="Changes"
          items={changes}
          keyOf={({ path, differences }) => `${path} ${differences[0]}`}
          rowHeight={rowHeight}
          hasMore={readsOn}
          onMore={showMore}
        >
          {(change) => <Row change={change} id={id} to={to} />}
        </VirtualList>
      )}
    </Page>
  )
}
