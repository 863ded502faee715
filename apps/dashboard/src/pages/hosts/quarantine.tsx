import type { QuarantineList } from '@dock/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { quarantineQuery } from '../../api/operator-queries.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Field } from '../../components/field.tsx'
import { FormDialog, textIn } from '../../components/form-dialog.tsx'
import { Panel } from '../../components/page.tsx'
import { Cell, Row, Table } from '../../components/table.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { showToast } from '../../components/toasts.tsx'
import { formatBytes } from '../../lib/format.ts'

type Item = QuarantineList['items'][number]

const kinds: Readonly<Record<Item['kind'], string>> = {
  dock: 'Disk of a Dock',
  capture: 'Capture of a disk',
  objects: 'Objects in the store',
}
const nameOf = (item: Item): string => item.hostname ?? item.id.slice(0, 8)

/** Data that no row of the database owns. Nothing of it is removed without a decision here. */
export function Quarantine() {
  const client = useQueryClient()
  const { data, error } = useQuery(quarantineQuery)
  const [adopting, setAdopting] = useState<Item>()
  const [deleting, setDeleting] = useState<Item>()
  const again = () => client.invalidateQueries({ queryKey: ['quarantine'] })
  return (
    <Panel
      title="Quarantine"
      text="Disks that a host keeps and the database does not know, as after a restore from a backup. Adopt what somebody misses, and delete what nobody needs."
    >
      {error && <ErrorAlert error={error} />}
      {data?.items.length === 0 && (
        <p className="m-0 text-sm text-muted">Empty: everything is accounted for.</p>
      )}
      {data && data.items.length > 0 && (
        <Table label="Quarantine" columns={['Name', 'What', 'Where', 'Size', 'Found', '']}>
          {data.items.map((item) => (
            <Row key={item.id}>
              <Cell className="max-w-48 truncate font-medium">
                <bdi>{nameOf(item)}</bdi>
              </Cell>
              <Cell className="whitespace-nowrap">{kinds[item.kind]}</Cell>
              <Cell className="font-mono text-xs">{item.hostId?.slice(0, 8) ?? 'object store'}</Cell>
              <Cell className="whitespace-nowrap">
                {item.sizeBytes === null ? '–' : formatBytes(item.sizeBytes)}
              </Cell>
              <Cell className="whitespace-nowrap text-muted">
                <RelativeTime at={item.firstSeenAt} />
              </Cell>
              <Cell>
                <div className="flex justify-end gap-2">
                  {item.state === 'found' && <Badge tone="wait">waits for its host</Badge>}
                  {item.state === 'held' && item.kind !== 'objects' && (
                    <Button size="small" onClick={() => setAdopting(item)}>
                      Adopt
                    </Button>
                  )}
                  {item.state === 'held' && (
                    <Button size="small" look="danger" onClick={() => setDeleting(item)}>
                      Delete
                    </Button>
                  )}
                </div>
              </Cell>
            </Row>
          ))}
        </Table>
      )}
      {data?.hasMore && (
        <p className="m-0 text-xs text-muted">More items follow once some of these are decided.</p>
      )}
      {adopting && <AdoptDialog item={adopting} onClose={() => setAdopting(undefined)} onDone={again} />}
      {deleting && (
        <ConfirmDialog
          open
          title={`Delete ${nameOf(deleting)}?`}
          description="The data is removed for good. If it is the only copy of somebody's disk, that disk is lost."
          name={nameOf(deleting)}
          action="Delete"
          onClose={() => setDeleting(undefined)}
          onConfirm={async () => {
            await api.call('deleteQuarantined', { params: { id: deleting.id } })
            await again()
          }}
        />
      )}
    </Panel>
  )
}

function AdoptDialog(props: { item: Item; onClose: () => void; onDone: () => Promise<unknown> }) {
  const { item, onClose, onDone } = props
  const adopt = async (form: FormData): Promise<void> => {
    const organizationId = textIn(form, 'organization')
    const body = organizationId === '' ? {} : { organizationId }
    const { isNewDock } = await api.call('adoptQuarantined', { params: { id: item.id }, body })
    showToast(isNewDock ? 'Adopted as a new, stopped Dock' : 'Adopted as a Snapshot of its Dock')
    void onDone()
  }
  return (
    <FormDialog
      open
      title={`Adopt ${nameOf(item)}?`}
      description="Its disk becomes a Snapshot of the Dock that it belonged to, or of a new, stopped Dock."
      action="Adopt"
      onClose={onClose}
      onSubmit={adopt}
    >
      <Field
        label="Id of the organization"
        name="organization"
        autoComplete="off"
        hint="Only if neither the database nor the host knows to whom the disk belongs."
      />
    </FormDialog>
  )
}
