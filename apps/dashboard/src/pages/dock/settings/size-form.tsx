import type { DockInfo } from '@dock/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../../api/client.ts'
import { largestDockQuery } from '../../../api/dock-queries.ts'
import { dockQuery } from '../../../api/queries.ts'
import { ErrorAlert } from '../../../components/alert.tsx'
import { Button } from '../../../components/button.tsx'
import { Form } from '../../../components/form.tsx'
import { SizeFields, type SizeText, sizesOf } from '../../../components/size-fields.tsx'
import { useFormAction } from '../../../lib/use-form-action.ts'

export function SizeForm({ dock }: { dock: DockInfo }) {
  const [edited, setEdited] = useState<SizeText>()
  const size = edited ?? {
    cpus: String(dock.cpus),
    memoryMiB: String(dock.memoryMiB),
    diskGiB: String(dock.diskGiB),
  }
  const client = useQueryClient()
  const { busy, error, run } = useFormAction()
  const largest = useQuery(largestDockQuery).data
  const isStopped = dock.state === 'archived'
  const wanted = sizesOf(size)
  const change = Object.fromEntries(
    (['cpus', 'memoryMiB', 'diskGiB'] as const)
      .filter((key) => wanted[key] !== dock[key])
      .map((key) => [key, wanted[key]]),
  )
  const save = async (): Promise<void> => {
    client.setQueryData(
      dockQuery(dock.id).queryKey,
      await api.call('updateDock', { params: { id: dock.id }, body: change }),
    )
    setEdited(undefined)
  }
  return (
    <Form className="grid max-w-2xl gap-4" onSubmit={() => run(save, 'Saved')}>
      <SizeFields value={size} largest={largest} onChange={setEdited} disabled={!isStopped} />
      {!isStopped && <p className="m-0 text-sm text-muted">Stop the Dock to change its size.</p>}
      {error !== undefined && <ErrorAlert error={error} />}
      <div>
        <Button type="submit" busy={busy} disabled={!isStopped || Object.keys(change).length === 0}>
          Resize
        </Button>
      </div>
    </Form>
  )
}
