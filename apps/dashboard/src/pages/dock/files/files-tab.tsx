import type { DockInfo } from '@dock/sdk'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { folderQuery } from '../../../api/dock-files.ts'
import { ErrorAlert } from '../../../components/alert.tsx'
import { Empty } from '../../../components/empty.tsx'
import { fromAddress, parentOf, resolveLink, toAddress, workFolder } from '../../../lib/dock-path.ts'
import { isReady } from '../../../lib/dock-states.ts'
import { visibleName } from '../../../lib/visible-text.ts'
import { PathSteps } from '../../files/path-steps.tsx'
import { DockOff } from '../dock-off.tsx'
import { DockFile } from './dock-file.tsx'
import { FolderView } from './folder-view.tsx'

const route = getRouteApi('/shell/docks/$id')

/** The files of a Dock: a folder, or one file. The path is in the address. */
export function FilesTab({ dock }: { dock: DockInfo }) {
  if (!isReady(dock.state)) return <DockOff dock={dock} need="change its files" />
  return <Path key={dock.id} dockId={dock.id} />
}

function Path({ dockId }: { dockId: string }) {
  const { path: address = workFolder } = route.useSearch()
  const path = fromAddress(address)
  const listed = useInfiniteQuery(folderQuery(dockId, path))
  const link = (to: string, children: ReactNode): ReactNode => (
    <Link
      to="/docks/$id"
      params={{ id: dockId }}
      search={{ tab: 'files', path: toAddress(to) }}
      preload={false}
      className="truncate text-ink hover:underline"
    >
      {children}
    </Link>
  )
  const entry = listed.data?.pages[0]?.entry
  return (
    <div className="grid gap-3">
      <PathSteps path={path} link={link} />
      {listed.error && <ErrorAlert error={listed.error} />}
      {listed.error && path !== '/' && (
        <p className="m-0 text-sm">{link(parentOf(path), 'The folder above')}</p>
      )}
      {listed.isPending && !listed.error && <p className="m-0 text-sm text-muted">Loading…</p>}
      {entry?.type === 'folder' && (
        <FolderView
          key={path}
          dockId={dockId}
          path={path}
          entries={listed.data?.pages.flatMap(({ entries }) => entries) ?? []}
          hasMore={listed.hasNextPage && !listed.isFetchingNextPage}
          onMore={listed.fetchNextPage}
          onRefresh={listed.refetch}
          link={link}
        />
      )}
      {entry?.type === 'file' && (
        <DockFile
          key={path}
          dockId={dockId}
          path={path}
          entry={entry}
          onSaved={() => void listed.refetch()}
        />
      )}
      {entry?.type === 'link' && (
        <Empty title="This is a link" text={`It leads to ${visibleName(entry.target ?? '')}.`}>
          {link(resolveLink(path, entry.target ?? ''), <span className="underline">Go there</span>)}
        </Empty>
      )}
      {entry && !['file', 'folder', 'link'].includes(entry.type) && (
        <Empty title={`This is a ${entry.type}`} text="Only regular files can be read here." />
      )}
    </div>
  )
}
