import type { FileEntry } from '@dock/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { fileUrl, readDockFileStart } from '../../../api/dock-files.ts'
import { ErrorAlert } from '../../../components/alert.tsx'
import { Button } from '../../../components/button.tsx'
import { ButtonLink } from '../../../components/button-link.tsx'
import { nameIn } from '../../../lib/dock-path.ts'
import { formatBytes } from '../../../lib/format.ts'
import { visibleName } from '../../../lib/visible-text.ts'
import { FilePreview, readPreview } from '../../files/file-preview.tsx'
import { editableText } from './editable-text.ts'
import { FileEditor } from './file-editor.tsx'

/** One file of a Dock: preview, download, and edit if it is a text that is not too long. */
export function DockFile(props: { dockId: string; path: string; entry: FileEntry; onSaved: () => void }) {
  const { dockId, path, entry } = props
  const [isEditing, setEditing] = useState(false)
  const opened = useQuery({
    queryKey: ['file', dockId, path],
    queryFn: ({ signal }) => readPreview((bytesMax) => readDockFileStart(dockId, path, bytesMax, signal)),
    staleTime: 0,
    gcTime: 0,
  })
  const editable = opened.data && editableText(opened.data)
  return (
    <div className="grid gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <span className="mr-auto text-sm text-muted">
          {formatBytes(entry.size)}, mode <span className="font-mono">{entry.mode}</span>
        </span>
        {editable && !isEditing && <Button onClick={() => setEditing(true)}>Edit</Button>}
        <ButtonLink href={fileUrl(dockId, path)} download>
          Download
        </ButtonLink>
      </div>
      {opened.error && <ErrorAlert error={opened.error} />}
      {opened.isPending && !opened.error && <p className="m-0 text-sm text-muted">Loading…</p>}
      {opened.data && isEditing && editable && (
        <FileEditor
          dockId={dockId}
          path={path}
          tag={opened.data.tag}
          original={editable}
          onReload={async () => {
            await opened.refetch()
            setEditing(false)
            props.onSaved()
          }}
          onClose={() => setEditing(false)}
        />
      )}
      {opened.data && !isEditing && <FilePreview file={opened.data} name={visibleName(nameIn(path))} />}
    </div>
  )
}
