import type { FileEntry } from '@dock/sdk'
import { type ReactNode, useCallback, useRef, useState } from 'react'
import { api, repeatIfBroken } from '../../../api/client.ts'
import { exists, fileUrl } from '../../../api/dock-files.ts'
import { Button } from '../../../components/button.tsx'
import { Empty } from '../../../components/empty.tsx'
import { Menu } from '../../../components/menu.tsx'
import { showError } from '../../../components/toasts.tsx'
import { VirtualList } from '../../../components/virtual-list.tsx'
import { joinPath } from '../../../lib/dock-path.ts'
import { visibleName } from '../../../lib/visible-text.ts'
import { EntryRow, entryRowHeight } from '../../files/entry-row.tsx'
import { type FolderAsk, FolderDialogs } from './folder-dialogs.tsx'
import { UploadList } from './upload-list.tsx'
import { useUploads } from './use-uploads.ts'

/** What a folder contains, with what can be done to it. Files can be dropped on it. */
export function FolderView(props: {
  dockId: string
  path: string
  entries: readonly FileEntry[]
  hasMore: boolean
  onMore: () => unknown
  onRefresh: () => unknown
  link: (path: string, children: ReactNode) => ReactNode
}) {
  const { dockId, path, entries, onMore, onRefresh } = props
  const picker = useRef<HTMLInputElement>(null)
  const [ask, setAsk] = useState<FolderAsk>()
  const [isOver, setOver] = useState(false)
  const { uploads, upload, dismiss } = useUploads(
    dockId,
    useCallback(() => void onRefresh(), [onRefresh]),
  )
  const showMore = useCallback(() => void onMore(), [onMore])

  /** Asks before a file is replaced. */
  const take = async (files: readonly File[]): Promise<void> => {
    try {
      const taken = await Promise.all(files.map(({ name }) => exists(dockId, joinPath(path, name))))
      const replaced = files.filter((_, at) => taken[at])
      if (replaced.length > 0) setAsk({ kind: 'replace', files, names: replaced.map(({ name }) => name) })
      else await upload(path, files)
    } catch (error) {
      showError(error)
    }
  }
  return (
    <section
      aria-label="Folder"
      className={`grid gap-3 rounded-lg ${isOver ? 'outline-2 outline-offset-4 outline-accent outline-dashed' : ''}`}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        void take([...event.dataTransfer.files])
      }}
    >
      <div className="flex flex-wrap items-center gap-2">
        <Button onClick={() => picker.current?.click()}>Upload</Button>
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-label="Files to upload"
          onChange={({ target }) => {
            void take([...(target.files ?? [])])
            target.value = ''
          }}
        />
        <Button onClick={() => setAsk({ kind: 'mkdir' })}>New folder</Button>
        <Button look="quiet" onClick={() => void onRefresh()}>
          Refresh
        </Button>
        <span className="ml-auto hidden text-xs text-muted sm:block">Drop files here to upload them.</span>
      </div>
      <UploadList uploads={uploads} onDismiss={dismiss} />
      {entries.length === 0 ? (
        <Empty title="This folder is empty" text="Upload files, or make a folder." />
      ) : (
        <VirtualList
          label="Files"
          items={entries}
          keyOf={({ name }) => name}
          rowHeight={entryRowHeight}
          hasMore={props.hasMore}
          onMore={showMore}
        >
          {(entry) => {
            const place = joinPath(path, entry.name)
            return (
              <EntryRow entry={entry} link={(children) => props.link(place, children)}>
                <Menu
                  label={`Actions for ${visibleName(entry.name)}`}
                  items={[
                    ...(entry.type === 'file' ? [{ label: 'Download', href: fileUrl(dockId, place) }] : []),
                    { label: 'Rename', onSelect: () => setAsk({ kind: 'rename', entry }) },
                    { label: 'Delete', isDanger: true, onSelect: () => setAsk({ kind: 'delete', entry }) },
                  ]}
                />
              </EntryRow>
            )
          }}
        </VirtualList>
      )}
      {ask && (
        <FolderDialogs
          ask={ask}
          onClose={() => setAsk(undefined)}
          onUpload={(files) => void upload(path, files)}
          onMkdir={async (name) => {
            await api.call('makeDockFolder', { params: { id: dockId }, body: { path: joinPath(path, name) } })
            await onRefresh()
          }}
          onRename={async ({ name: from }, name) => {
            const body = { from: joinPath(path, from), to: joinPath(path, name) }
            await api.call('moveDockFile', { params: { id: dockId }, body })
            await onRefresh()
          }}
          onDelete={async ({ name, type }) => {
            const query = { path: joinPath(path, name), recursive: type === 'folder' }
            await repeatIfBroken(() => api.call('deleteDockFile', { params: { id: dockId }, query }))
            await onRefresh()
          }}
        />
      )}
    </section>
  )
}
