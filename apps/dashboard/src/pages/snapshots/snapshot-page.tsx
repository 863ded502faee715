import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type ReactNode, useCallback } from 'react'
import { listedSnapshotQuery, snapshotFileUrl, snapshotFolderQuery } from '../../api/snapshot-queries.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { Empty } from '../../components/empty.tsx'
import { Page } from '../../components/page.tsx'
import { RowMenu } from '../../components/row-menu.tsx'
import { VirtualList } from '../../components/virtual-list.tsx'
import { fromAddress, joinPath, toAddress, workFolder } from '../../lib/dock-path.ts'
import { formatMoment } from '../../lib/format.ts'
import { visibleName } from '../../lib/visible-text.ts'
import { EntryRow, entryRowHeight } from '../files/entry-row.tsx'
import { PathSteps } from '../files/path-steps.tsx'
import { SnapshotFile } from './snapshot-file.tsx'

const route = getRouteApi('/shell/snapshots/$id')

/** The files of a Snapshot. Nothing wakes: a host reads its capture. */
export function SnapshotPage() {
  const { id } = route.useParams()
  const { path: address = workFolder, file: fileAddress } = route.useSearch()
  const path = fromAddress(address)
  const { data: listed } = useQuery(listedSnapshotQuery(id))
  const link = (to: string, children: ReactNode): ReactNode => (
    <Link
      to="/snapshots/$id"
      params={{ id }}
      search={{ path: toAddress(to) }}
      preload={false}
      className="truncate text-ink hover:underline"
    >
      {children}
    </Link>
  )
  return (
    <Page
      title={listed ? `Snapshot of ${visibleName(listed.dockName ?? listed.dockId)}` : 'Snapshot'}
      back={
        <Link to="/snapshots" search={{}}>
          Snapshots
        </Link>
      }
      badges={
        listed && (
          <span className="text-xs text-muted" title={id}>
            {formatMoment(listed.createdAt)}
          </span>
        )
      }
    >
      <PathSteps path={fileAddress === undefined ? path : joinPath(path, fileAddress)} link={link} />
      {fileAddress === undefined ? (
        <Folder key={path} id={id} path={path} link={link} />
      ) : (
        <SnapshotFile id={id} folder={path} name={fileAddress} />
      )}
    </Page>
  )
}

function Folder(props: { id: string; path: string; link: (path: string, children: ReactNode) => ReactNode }) {
  const { id, path } = props
  const listed = useInfiniteQuery(snapshotFolderQuery(id, path))
  const entries = listed.data?.pages.flatMap((page) => page.entries) ?? []
  const { fetchNextPage } = listed
  const showMore = useCallback(() => void fetchNextPage(), [fetchNextPage])
  return (
    <>
      {listed.error && <ErrorAlert error={listed.error} />}
      {listed.error && path !== '/' && <p className="m-0 text-sm">{props.link('/', 'The root folder')}</p>}
      {listed.isPending && !listed.error && <p className="m-0 text-sm text-muted">Loading…</p>}
      {listed.data && entries.length === 0 && (
        <Empty title="This folder is empty" text="It had no files when the Snapshot was made." />
      )}
      {entries.length > 0 && (
        <VirtualList
          label="Files"
          items={entries}
          keyOf={({ name }) => name}
          rowHeight={entryRowHeight}
          hasMore={listed.hasNextPage && !listed.isFetchingNextPage}
          onMore={showMore}
        >
          {(entry) => {
            const place = joinPath(path, entry.name)
            return (
              <EntryRow
                entry={{ ...entry, modifiedAt: null, target: null }}
                link={(children) => {
                  if (entry.type === 'folder') return props.link(place, children)
                  if (entry.type !== 'file') return children
                  return (
                    <Link
                      to="/snapshots/$id"
                      params={{ id }}
                      search={{ path: toAddress(path), file: entry.name }}
                      preload={false}
                      className="truncate text-ink hover:underline"
                    >
                      {children}
                    </Link>
                  )
                }}
              >
                {entry.type === 'file' ? (
                  <RowMenu
                    label={`Actions for ${visibleName(entry.name)}`}
                    items={[{ label: 'Download', href: snapshotFileUrl(id, place) }]}
                  />
                ) : (
                  <span className="size-9 shrink-0" />
                )}
              </EntryRow>
            )
          }}
        </VirtualList>
      )}
    </>
  )
}
