import type { Environment, RevealedSecrets } from '@dock/sdk'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api } from '../../api/client.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { TextArea } from '../../components/field.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'

/** All variables as KEY=value lines. Opening it reveals them; files stay as they are. */
export function EditAsText(props: { environment: Environment; open: boolean; onClose: () => void }) {
  const { environment, open } = props
  const { id, currentVersion } = environment
  const client = useQueryClient()
  const [read, setRead] = useState<{ version: number; secrets: RevealedSecrets }>()
  const [error, setError] = useState<unknown>()
  useEffect(() => {
    if (!open) return
    let isCurrent = true
    api.call('revealEnvironmentSecrets', { params: { ref: id } }).then(
      (secrets) => isCurrent && setRead((before) => before ?? { version: currentVersion, secrets }),
      (failure: unknown) => isCurrent && setError(failure),
    )
    return () => {
      isCurrent = false
    }
  }, [open, id, currentVersion])
  const close = (): void => {
    setRead(undefined)
    setError(undefined)
    props.onClose()
  }
  const save = async (form: FormData): Promise<void> => {
    const text = form.get('contents')
    if (!read || typeof text !== 'string') return
    const now = await api.call('readEnvironment', { params: { ref: id } })
    if (now.currentVersion !== read.version)
      throw new Error(
        'Somebody else has changed this Environment since. Copy your text, close and open again.',
      )
    await api.call('replaceEnvironmentSecrets', {
      params: { ref: id },
      body: {
        envContents: text,
        secretFiles: read.secrets.secretFiles.map(({ path, contents }) => ({ path, contents })),
      },
    })
    await client.invalidateQueries({ queryKey: ['environment'] })
  }
  return (
    <FormDialog
      title="Variables as text"
      description="KEY=value lines; lines with # are comments and are not kept. Variables that you remove here are deleted."
      action="Save"
      open={open}
      onClose={close}
      onSubmit={save}
    >
      {error !== undefined && <ErrorAlert error={error} />}
      {read && (
        <TextArea
          spellCheck={false}
          className="font-mono"
          label="Variables"
          name="contents"
          rows={12}
          defaultValue={read.secrets.envContents}
          placeholder={'DATABASE_URL=postgres://…\nAPI_TOKEN="two words"'}
        />
      )}
      {!read && error === undefined && <p className="m-0 text-sm text-muted">Loading…</p>}
    </FormDialog>
  )
}
