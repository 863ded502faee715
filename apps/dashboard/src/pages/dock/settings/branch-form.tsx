import type { DockInfo } from '@dock/sdk'
import { dockNameLengthMax } from '@dock/sdk/dashboard-rules'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../../api/client.ts'
import { ErrorAlert } from '../../../components/alert.tsx'
import { Button } from '../../../components/button.tsx'
import { Field } from '../../../components/field.tsx'
import { Form } from '../../../components/form.tsx'
import { useFormAction } from '../../../lib/use-form-action.ts'

export function BranchForm({ dock }: { dock: DockInfo }) {
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const { busy, error, run } = useFormAction()
  const branch = async (): Promise<void> => {
    const body = name === '' ? {} : { name }
    const { id } = await api.call('branchDock', { params: { id: dock.id }, body })
    await navigate({ to: '/docks/$id', params: { id }, search: {} })
  }
  return (
    <Form className="grid max-w-md gap-4" onSubmit={() => run(branch)}>
      <Field
        label="Name of the copy"
        hint="Without one, it is found by its id."
        value={name}
        maxLength={dockNameLengthMax}
        autoComplete="off"
        onChange={({ target }) => setName(target.value)}
      />
      {error !== undefined && <ErrorAlert error={error} />}
      <div>
        <Button type="submit" busy={busy}>
          {busy ? 'Capturing the disk and booting the copy…' : 'Branch'}
        </Button>
      </div>
    </Form>
  )
}
