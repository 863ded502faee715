import { variableNameLengthMax } from '@dock/sdk/dashboard-rules'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Field, TextArea } from '../../components/field.tsx'
import { FormDialog, textIn } from '../../components/form-dialog.tsx'
import { Panel } from '../../components/page.tsx'
import { Row, Rows } from '../../components/rows.tsx'
import { SecretValue } from './secret-value.tsx'
import type { TabProps } from './tab-props.ts'

/** The variables of an Environment. `values` are there while they are revealed. */
export function VariableRows({
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
    const value = form.get('value')
    await api.call('setEnvironmentVariable', {
      params,
      body: {
        key: edited || textIn(form, 'key'),
        value: typeof value === 'string' ? value.replaceAll('\r\n', '\n') : '',
      },
    })
    await readAgain()
  }
  return (
    <Panel title="Variables" actions={isAdmin && <Button onClick={() => setEdited('')}>Add variable</Button>}>
      {environment.varNames.length === 0 ? (
        <p className="m-0 text-sm text-muted">No variables. Docks get each one in their shell.</p>
      ) : (
        <Rows label="Variables">
          {environment.varNames.map((name) => {
            const value = values?.get(name)
            return (
              <Row
                key={name}
                title={<code className="font-mono text-sm">{name}</code>}
                text={
                  value === undefined ? (
                    <span className="font-mono">••••••</span>
                  ) : (
                    <SecretValue name={name} value={value} />
                  )
                }
              >
                {isAdmin && (
                  <>
                    <Button aria-label={`Replace ${name}`} onClick={() => setEdited(name)}>
                      Replace
                    </Button>
                    <Button look="danger" aria-label={`Remove ${name}`} onClick={() => setRemoved(name)}>
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
        title={edited ? `Replace ${edited}` : 'Add a variable'}
        description="Docks keep their version until they are upgraded, or resume."
        action="Save"
        open={edited !== undefined}
        onClose={() => setEdited(undefined)}
        onSubmit={save}
      >
        {edited === '' && (
          <Field
            label="Name"
            name="key"
            pattern="[A-Za-z_][A-Za-z0-9_]*"
            hint="Letters, digits and _, not starting with a digit"
            maxLength={variableNameLengthMax}
            autoComplete="off"
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
      </FormDialog>
      <ConfirmDialog
        title={`Remove ${removed ?? ''}?`}
        description="The value is lost with the old version. New Docks start without it."
        name={removed ?? ''}
        action="Remove"
        open={removed !== undefined}
        onClose={() => setRemoved(undefined)}
        onConfirm={async () => {
          await api.call('removeEnvironmentVariable', { params: { ...params, key: removed ?? '' } })
          await readAgain()
        }}
      />
    </Panel>
  )
}
