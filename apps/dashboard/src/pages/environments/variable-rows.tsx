import { variableNameLengthMax } from '@dock/sdk/dashboard-rules'
import { api } from '../../api/client.ts'
import { Field, TextArea } from '../../components/field.tsx'
import { textIn } from '../../components/form-dialog.tsx'
import { SecretRows } from './secret-rows.tsx'
import type { TabProps } from './tab-props.ts'

/** Returns a text as it was typed. Browsers send line ends of two characters. */
export function typedIn(form: FormData, name: string): string {
  const value = form.get(name)
  return typeof value === 'string' ? value.replaceAll('\r\n', '\n') : ''
}

/** The variables of an Environment. `values` are there while they are revealed. */
export function VariableRows(props: TabProps & { values: ReadonlyMap<string, string> | undefined }) {
  const { environment, isAdmin, values } = props
  const params = { ref: environment.id }
  return (
    <SecretRows
      title="Variables"
      empty="No variables. Docks get each one in their shell."
      isAdmin={isAdmin}
      items={environment.varNames.map((name) => ({
        name,
        hidden: <span className="font-mono">••••••</span>,
      }))}
      values={values}
      word="variable"
      editText="Docks keep their version until they are upgraded, or resume."
      fields={(isNew) => (
        <>
          {isNew && (
            <Field
              label="Name"
              name="key"
              pattern="[A-Za-z_][A-Za-z0-9_]*"
              hint="Letters, digits and _, not starting with a digit"
              maxLength={variableNameLengthMax}
              autoComplete="off"
              spellCheck={false}
              required
            />
          )}
          <TextArea
            spellCheck={false}
            className="font-mono"
            label="Value"
            name="value"
            rows={3}
            autoComplete="off"
          />
        </>
      )}
      onSave={(form, name) => {
        const body = { key: name ?? textIn(form, 'key'), value: typedIn(form, 'value') }
        return api.call('setEnvironmentVariable', { params, body })
      }}
      removeText="The value is lost with the old version. New Docks start without it."
      onRemove={(key) => api.call('removeEnvironmentVariable', { params: { ...params, key } })}
    />
  )
}
