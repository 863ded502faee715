import type { DockInfo } from '@dock/sdk'
import { templateNameLength } from '@dock/sdk/dashboard-rules'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../../api/client.ts'
import { ErrorAlert } from '../../../components/alert.tsx'
import { Button } from '../../../components/button.tsx'
import { Field } from '../../../components/field.tsx'
import { useFormAction } from '../../../lib/use-form-action.ts'

export function FreezeForm({ dock }: { dock: DockInfo }) {
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const { busy, error, run } = useFormAction()
  const freeze = async (): Promise<void> => {
    await api.call('createTemplate', { body: { dockId: dock.id, name } })
    await navigate({ to: '/templates' })
  }
  return (
    <form
      className="grid max-w-md gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        void run(freeze)
      }}
    >
      <Field
        label="Name of the Template"
        hint="3 to 64 lowercase letters, digits, dashes or underscores."
        value={name}
        maxLength={templateNameLength.max}
        autoComplete="off"
        onChange={({ target }) => setName(target.value)}
      />
      {error !== undefined && <ErrorAlert error={error} />}
      <div>
        <Button type="submit" busy={busy} disabled={name === ''}>
          Freeze
        </Button>
      </div>
    </form>
  )
}
