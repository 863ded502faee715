import type { DockInfo } from '@dock/sdk'
import { templateNameLength } from '@dock/sdk/dashboard-rules'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../../api/client.ts'
import { ErrorAlert } from '../../../components/alert.tsx'
import { Field } from '../../../components/field.tsx'
import { Form } from '../../../components/form.tsx'
import { RefusableButton } from '../../../components/refusable-button.tsx'
import { useFormAction } from '../../../lib/use-form-action.ts'

export function FreezeForm({ dock, refusal }: { dock: DockInfo; refusal: string | undefined }) {
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const { busy, error, run } = useFormAction()
  const freeze = async (): Promise<void> => {
    await api.call('createTemplate', { body: { dockId: dock.id, name } })
    await navigate({ to: '/templates' })
  }
  return (
    <Form
      className="grid max-w-md gap-4"
      onSubmit={() => {
        if (refusal === undefined) run(freeze)
      }}
    >
      <Field
        label="Name of the Template"
        hint="3 to 64 lowercase letters, digits, dashes or underscores."
        value={name}
        disabled={refusal !== undefined}
        maxLength={templateNameLength.max}
        autoComplete="off"
        onChange={({ target }) => setName(target.value)}
      />
      {error !== undefined && <ErrorAlert error={error} />}
      <div>
        <RefusableButton type="submit" refusal={refusal} busy={busy} disabled={name === ''}>
          Freeze
        </RefusableButton>
      </div>
    </Form>
  )
}
