import type { FileEntry } from '@dock/sdk'
import { Button } from '../../../components/button.tsx'
import { ConfirmDialog } from '../../../components/confirm-dialog.tsx'
import { Dialog } from '../../../components/dialog.tsx'
import { InputDialog } from '../../../components/input-dialog.tsx'
import { visibleName } from '../../../lib/visible-text.ts'

/** What a folder asks the person. */
export type FolderAsk =
  | { kind: 'mkdir' }
  | { kind: 'rename'; entry: FileEntry }
  | { kind: 'delete'; entry: FileEntry }
  | { kind: 'replace'; files: readonly File[]; names: readonly string[] }

const namesShownMax = 10

/** A name with a slash would lead to another folder. */
const requireName = (name: string): string => {
  if (/\/|^\.{1,2}$/.test(name)) throw new Error('A name has no slash, and is not . or ..')
  return name
}

export function FolderDialogs(props: {
  ask: FolderAsk
  onClose: () => void
  onUpload: (files: readonly File[]) => void
  onMkdir: (name: string) => Promise<unknown>
  onRename: (entry: FileEntry, name: string) => Promise<unknown>
  onDelete: (entry: FileEntry) => Promise<unknown>
}) {
  const { ask, onClose } = props
  if (ask.kind === 'mkdir')
    return (
      <InputDialog
        title="New folder"
        label="Name"
        action="Make folder"
        onClose={onClose}
        onSubmit={async (name) => props.onMkdir(requireName(name))}
      />
    )
  if (ask.kind === 'rename')
    return (
      <InputDialog
        title={`Rename ${visibleName(ask.entry.name)}`}
        label="New name"
        initial={ask.entry.name}
        action="Rename"
        onClose={onClose}
        onSubmit={async (name) => props.onRename(ask.entry, requireName(name))}
      />
    )
  if (ask.kind === 'delete') {
    const name = visibleName(ask.entry.name)
    return (
      <ConfirmDialog
        title={`Delete ${name}?`}
        description={
          ask.entry.type === 'folder'
            ? 'The folder and all it contains are deleted. Only a Snapshot may have them still.'
            : 'The file is deleted. Only a Snapshot may have it still.'
        }
        name={name}
        action="Delete"
        open
        onClose={onClose}
        onConfirm={() => props.onDelete(ask.entry)}
      />
    )
  }
  return (
    <Dialog
      title="Replace what is there?"
      description="These names exist in the folder. Their contents are lost if you replace them."
      open
      onClose={onClose}
    >
      <ul className="m-0 list-none p-0 font-mono text-sm">
        {ask.names.slice(0, namesShownMax).map((name) => (
          <li key={name}>
            <bdi>{visibleName(name)}</bdi>
          </li>
        ))}
        {ask.names.length > namesShownMax && <li>and {ask.names.length - namesShownMax} more</li>}
      </ul>
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          onClick={() => {
            props.onUpload(ask.files.filter(({ name }) => !ask.names.includes(name)))
            onClose()
          }}
        >
          Upload the others
        </Button>
        <Button
          look="danger"
          onClick={() => {
            props.onUpload(ask.files)
            onClose()
          }}
        >
          Replace
        </Button>
      </div>
    </Dialog>
  )
}
