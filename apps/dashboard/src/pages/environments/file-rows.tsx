import { filePathLengthMax } from '@dock/sdk/dashboard-rules'
import { api } from '../../api/client.ts'
import { Field, TextArea } from '../../components/field.tsx'
import { textIn } from '../../components/form-dialog.tsx'
import { formatBytes } from '../../lib/format.ts'
import { SecretRows } from './secret-rows.tsx'
import type { TabProps } from './tab-props.ts'
import { typedIn } from './variable-rows.tsx'

/** The secret files of an Environment. `values` are there while they are revealed. */
export function FileRows(props: TabProps & { values: ReadonlyMap<string, string> | undefined }) {
  const { environment, isAdmin, values } = props
  const params = { ref: environment.id }
  return (
    <SecretRows
      title="Secret files"
      text="Written into the work folder of each Dock, which is /home/user/work."
      empty="No files. Add one for a key or a configuration that programs read from the disk."
      isAdmin={isAdmin}
      items={environment.files.map(({ path, size }) => ({ name: path, hidden: formatBytes(size) }))}
      values={values}
      word="file"
      editText="At most 256 KiB of text. Docks keep their version until they are upgraded, or resume."
      fields={(isNew) => (
        <>
          {isNew && (
            <Field
              label="Path"
              name="path"
              placeholder="config/key.pem"
              hint="Relative to the work folder"
              maxLength={filePathLengthMax}
              autoComplete="off"
              spellCheck={false}
              required
            />
          )}
          <TextArea spellCheck={false} className="font-mono" label="Contents" name="contents" />
          <Field label="Or a file of this computer" name="upload" type="file" />
        </>
      )}
      onSave={async (form, name) => {
        const upload = form.get('upload')
        const isUpload = upload instanceof File && upload.size > 0
        const contents = isUpload ? await upload.text() : typedIn(form, 'contents')
        return api.call('setEnvironmentFile', {
          params,
          body: { path: name ?? textIn(form, 'path'), contents },
        })
      }}
      removeText="Its contents are lost with the old version. New Docks start without it."
      onRemove={(path) => api.call('removeEnvironmentFile', { params: { ...params, path } })}
    />
  )
}
