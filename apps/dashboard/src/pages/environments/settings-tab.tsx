import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Field } from '../../components/field.tsx'
import { textIn } from '../../components/form-dialog.tsx'
import { Panel } from '../../components/page.tsx'
import { SettingsForm } from '../../components/settings-form.tsx'
import { useAction } from '../../lib/use-action.ts'
import type { TabProps } from './tab-props.ts'

/** Name, default and end of an Environment. */
export function EnvironmentSettingsTab({ environment, isAdmin }: TabProps) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const { busy, run } = useAction()
  const [asks, setAsks] = useState(false)
  const change = async (body: { name?: string; isDefault?: true }): Promise<void> => {
    await api.call('updateEnvironment', { params: { ref: environment.id }, body })
    await client.invalidateQueries({ queryKey: ['environment'] })
  }
  const reason = isAdmin ? undefined : 'Only admins change this.'
  return (
    <>
      <Panel title="Settings" text={reason}>
        <SettingsForm
          key={environment.name}
          action="Rename"
          isReadOnly={!isAdmin}
          onSave={(form) => change({ name: textIn(form, 'name') })}
        >
          <Field
            label="Name"
            name="name"
            defaultValue={environment.name}
            hint="2 to 64 small letters, digits, dashes or underscores. Docks follow the new name."
            pattern="[a-z0-9_\-]{2,64}"
            autoComplete="off"
            disabled={!isAdmin}
            required
          />
        </SettingsForm>
      </Panel>
      <Panel
        title="Default"
        text={
          environment.isDefault
            ? 'Docks that name no Environment start with this one. To change that, make another one the default.'
            : 'Docks that name no Environment start with the default one.'
        }
      >
        {!environment.isDefault && (
          <Button
            className="justify-self-start"
            busy={busy !== undefined}
            disabled={!isAdmin}
            title={reason}
            onClick={() => run('default', () => change({ isDefault: true }))}
          >
            Make it the default
          </Button>
        )}
      </Panel>
      <Panel
        danger
        title="Delete this Environment"
        text="Its variables, files and versions are lost. Docks keep what they have until they boot again; then they get the default Environment. The last Environment of an organization stays."
      >
        <Button
          look="danger"
          className="justify-self-start"
          disabled={!isAdmin}
          title={reason}
          onClick={() => setAsks(true)}
        >
          Delete Environment
        </Button>
        <ConfirmDialog
          title={`Delete ${environment.name}?`}
          description="Its variables, files, repositories and versions are deleted. This cannot be undone."
          name={environment.name}
          action="Delete"
          open={asks}
          onClose={() => setAsks(false)}
          onConfirm={async () => {
            await api.call('deleteEnvironment', { params: { ref: environment.id } })
            await navigate({ to: '/environments' })
            await client.invalidateQueries({ queryKey: ['environment', 'list'] })
          }}
        />
      </Panel>
    </>
  )
}
