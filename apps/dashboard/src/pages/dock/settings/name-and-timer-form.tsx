import type { DockInfo } from '@dock/sdk'
import { dockNameLengthMax } from '@dock/sdk/dashboard-rules'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../../api/client.ts'
import { dockQuery } from '../../../api/queries.ts'
import { ErrorAlert } from '../../../components/alert.tsx'
import { Button } from '../../../components/button.tsx'
import { Field } from '../../../components/field.tsx'
import { Form } from '../../../components/form.tsx'
import { TtlField } from '../../../components/ttl-field.tsx'
import { type TtlText, ttlSecondsOf, ttlTextOf } from '../../../lib/ttl.ts'
import { useFormAction } from '../../../lib/use-form-action.ts'

export function NameAndTimerForm({ dock }: { dock: DockInfo }) {
  // Undefined until it is changed here, so that the form shows what others change meanwhile.
  const [edited, setEdited] = useState<{ name?: string; ttl?: TtlText }>({})
  const { name = dock.name ?? '', ttl = ttlTextOf(dock.ttlSeconds) } = edited
  const client = useQueryClient()
  const { busy, error, run } = useFormAction()
  const ttlSeconds = ttlSecondsOf(ttl)
  const change = {
    ...(name === (dock.name ?? '') ? {} : { name }),
    ...(ttlSeconds === dock.ttlSeconds ? {} : { ttlSeconds }),
  }
  const save = async (): Promise<void> => {
    client.setQueryData(
      dockQuery(dock.id).queryKey,
      await api.call('updateDock', { params: { id: dock.id }, body: change }),
    )
    setEdited({})
  }
  return (
    <Form className="grid max-w-md gap-4" onSubmit={() => run(save, 'Saved')}>
      <Field
        label="Name"
        value={name}
        maxLength={dockNameLengthMax}
        autoComplete="off"
        onChange={({ target }) => setEdited({ ...edited, name: target.value })}
      />
      <TtlField value={ttl} onChange={(value) => setEdited({ ...edited, ttl: value })} />
      {error !== undefined && <ErrorAlert error={error} />}
      <div>
        <Button type="submit" busy={busy} disabled={Object.keys(change).length === 0}>
          Save
        </Button>
      </div>
    </Form>
  )
}
