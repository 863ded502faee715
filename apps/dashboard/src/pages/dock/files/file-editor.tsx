import { useState } from 'react'
import { api, repeatIfBroken } from '../../../api/client.ts'
import { readTag } from '../../../api/dock-files.ts'
import { ErrorAlert } from '../../../components/alert.tsx'
import { Button } from '../../../components/button.tsx'
import { controlClass } from '../../../components/field.tsx'
import { showToast } from '../../../components/toasts.tsx'
import { useFormAction } from '../../../lib/use-form-action.ts'
import { type EditableText, textToSave } from './editable-text.ts'

/** Edits a text. A save is refused if the file has changed since it was opened, unless the person replaces it. */
export function FileEditor(props: {
  dockId: string
  path: string
  tag: string | null
  original: EditableText
  onReload: () => Promise<unknown>
  onClose: () => void
}) {
  const { dockId, path, original } = props
  const [text, setText] = useState(original.text)
  const { busy, error, run } = useFormAction()
  const [hasConflict, setConflict] = useState(false)
  const save = async (replaces: boolean): Promise<void> => {
    setConflict(false)
    if (!replaces && (await readTag(dockId, path)) !== props.tag) return setConflict(true)
    const body = new TextEncoder().encode(textToSave(text, original.lineEnd))
    await repeatIfBroken(() => api.call('writeDockFile', { params: { id: dockId }, query: { path }, body }))
    showToast('Saved')
    await props.onReload()
  }
  return (
    <div className="grid gap-3">
      <textarea
        aria-label="Contents"
        value={text}
        spellCheck={false}
        autoComplete="off"
        dir="ltr"
        rows={28}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          if (event.key !== 's' || !(event.ctrlKey || event.metaKey)) return
          event.preventDefault()
          if (!busy) run(() => save(false))
        }}
        className={`w-full resize-y p-3 font-mono text-xs leading-5 ${controlClass}`}
      />
      {hasConflict && (
        <div role="alert" className="grid gap-2 rounded-md border border-line bg-panel p-3 text-sm">
          <p className="m-0 text-wait">
            The file has changed in the Dock since you opened it. Nothing was saved.
          </p>
          <div className="flex flex-wrap gap-2">
            <Button look="danger" busy={busy} onClick={() => run(() => save(true))}>
              Replace it with mine
            </Button>
            <Button busy={busy} onClick={() => void props.onReload()}>
              Load the new one
            </Button>
          </div>
        </div>
      )}
      {error !== undefined && <ErrorAlert error={error} />}
      <div className="flex gap-2">
        <Button
          look="primary"
          busy={busy}
          disabled={text === original.text}
          onClick={() => run(() => save(false))}
        >
          Save
        </Button>
        <Button look="quiet" disabled={busy} onClick={props.onClose}>
          Cancel
        </Button>
      </div>
    </div>
  )
}
