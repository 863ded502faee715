import { filePathLengthMax } from '@dock/sdk/dashboard-rules'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Field, TextArea } from '../../components/field.tsx'
import { FormDialog, textIn } from '../../components/form-dialog.tsx'
import { Panel } from '../../components/page.tsx'
import { Row, Rows } from '../../components/rows.tsx'
import { formatBytes } from '../../lib/format.ts'
import { SecretValue } from './secret-value.tsx'
import type { TabProps } from './tab-props.ts'

/** The secret files of an Environment. `values` are there while they are revealed. */
export function FileRows({
  environment,
  isAdmin,
  values,
}: TabProps & { values: ReadonlyMap<string, string> | undefined }) {
  const client = useQueryClient()
  const [edited, setEdited] = useState<string>()
  const [removed, setRemoved] = useState<string>()
  const params = { ref: environment.id }
  const readAgain = () => client.invalidateQueries({ queryKey: ['environment'] })

  const save = async (form: FormData): Promise<void> => {
    const upload = form.get('upload')
    const typed = form.get('contents')
    const contents =
      upload instanceof File && upload.size > 0
        ? await upload.text()
        : typeof typed === 'string'
          ? typed.replaceAll('\r\n', '\n')
          : ''
    await api.call('setEnvironmentFile', {
      params,
      body: { path: edited || textIn(form, 'path'), contents },
    })
    await readAgain()
  }
  return (
    <Panel
      title="Secret files"
      text="Written into the work folder of each Dock, which is /home/user/work."
      actions={isAdmin && <Button onClick={() => setEdited('')}>Add file</Button>}
    >
      {environment.files.length === 0 ? (
        <p className="m-0 text-sm text-muted">No files.</p>
      ) : (
        <Rows label="Secret files">
          {environment.files.map(({ path, size }) => {
            const value = values?.get(path)
            return (
              <Row
                key={path}
                title={<code className="font-mono text-sm">{path}</code>}
                text={value === undefined ? formatBytes(size) : <SecretValue name={path} value={value} />}
              >
                {isAdmin && (
                  <>
                    <Button aria-label={`Replace ${path}`} onClick={() => setEdited(path)}>
                      Replace
                    </Button>
                    <Button look="danger" aria-label={`Remove ${path}`} onClick={() => setRemoved(path)}>
                      Remove
                    </Button>
                  </>
                )}
              </Row>
            )
          })}
        </Rows>
      )}
      <FormDialog
        title={edited ? `Replace ${edited}` : 'Add a file'}
        description="At most 256 KiB of text. Docks keep their version until they are upgraded, or resume."
        action="Save"
        open={edited !== undefined}
        onClose={() => setEdited(undefined)}
        onSubmit={save}
      >
        {edited === '' && (
          <Field
            label="Path"
            name="path"
            placeholder="config/key.pem"
            hint="Relative to the work folder"
            maxLength={filePathLengthMax}
            autoComplete="off"
            required
          />
        )}
        <TextArea spellCheck={false} className="font-mono" label="Contents" name="contents" />
        <Field label="Or a file of this computer" name="upload" type="file" className="text-sm" />
      </FormDialog>
      <ConfirmDialog
        title={`Remove ${removed ?? ''}?`}
        description="Its contents are lost with the old version. New Docks start without it."
        name={removed ?? ''}
        action="Remove"
        open={removed !== undefined}
        onClose={() => setRemoved(undefined)}
        onConfirm={async () => {
          await api.call('removeEnvironmentFile', { params: { ...params, path: removed ?? '' } })
          await readAgain()
        }}
      />
    </Panel>
  )
}
