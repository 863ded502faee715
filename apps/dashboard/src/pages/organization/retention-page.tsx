import { retentionConfirmation } from '@dock/sdk/dashboard-rules'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { retentionQuery } from '../../api/people-queries.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Panel } from '../../components/page.tsx'
import { Pending } from '../../components/pending.tsx'
import { showToast } from '../../components/toasts.tsx'
import { useAction } from '../../lib/use-action.ts'
import { useOrganization } from './use-organization.ts'

/** Whether stopped Docks keep their data, and what changes with it. */
export function RetentionPage() {
  const { orgId, isOwner, organization } = useOrganization()
  const client = useQueryClient()
  const retention = useQuery(retentionQuery(orgId))
  const [asks, setAsks] = useState(false)
  const { busy, run } = useAction()
  const set = async (body: { enabled: boolean; confirmation?: string }): Promise<void> => {
    await api.call('updateRetention', { query: { organizationId: orgId }, body })
    await client.invalidateQueries({ queryKey: ['organization', 'retention', orgId] })
    showToast(body.enabled ? 'Zero data retention is on' : 'Zero data retention is off')
  }
  if (!retention.data)
    return (
      <Panel title="Zero data retention">
        <Pending error={retention.error} />
      </Panel>
    )
  const isOn = retention.data.enabled
  const reason = isOwner ? undefined : 'Only an owner changes this.'
  return (
    <Panel
      title="Zero data retention"
      text={isOn ? 'A Dock leaves nothing behind when it stops.' : 'Docks keep their data when they stop.'}
      actions={<Badge tone={isOn ? 'wait' : 'good'}>{isOn ? 'on' : 'off'}</Badge>}
    >
      <div className="grid gap-4 text-sm sm:grid-cols-2">
        <Consequences
          title="While it is off"
          lines={[
            'Stopping a Dock saves its disk as a Snapshot. You can resume it, branch it, or read its files.',
            'Docks can be frozen as Templates.',
            'Stored data counts against the limits of the organization.',
          ]}
        />
        <Consequences
          title="While it is on"
          lines={[
            'Stopping a Dock deletes its disk. Its files cannot be brought back, by nobody.',
            'This is also so for Docks that stop by themselves: idle, at the end of their time, or with a closed account.',
            'Only the person who made a Dock, or an admin, may stop it or set when it stops.',
            'Everybody may force a stop. That keeps the Snapshots from before.',
            'Templates are not available.',
          ]}
        />
      </div>
      <p className="m-0 text-sm">
        Turning it on deletes all stopped Docks of {organization?.name}, with their Snapshots, and all its
        Templates. Docks that are on keep running until they stop. Turning it off brings nothing back.
      </p>
      <div className="flex flex-wrap items-center gap-3">
        {isOn ? (
          <Button
            busy={busy !== undefined}
            disabled={!isOwner}
            title={reason}
            onClick={() => run('off', () => set({ enabled: false }))}
          >
            Keep data from now on
          </Button>
        ) : (
          <Button look="danger" disabled={!isOwner} title={reason} onClick={() => setAsks(true)}>
            Turn zero data retention on
          </Button>
        )}
        {reason && <span className="text-sm text-muted">{reason}</span>}
      </div>
      <ConfirmDialog
        title="Turn zero data retention on?"
        description={`All stopped Docks of ${organization?.name ?? 'the organization'}, their Snapshots and all Templates are deleted now. This cannot be undone.`}
        name={retentionConfirmation}
        action="Delete and turn on"
        open={asks}
        onClose={() => setAsks(false)}
        onConfirm={() => set({ enabled: true, confirmation: retentionConfirmation })}
      />
    </Panel>
  )
}

function Consequences({ title, lines }: { title: string; lines: readonly string[] }) {
  return (
    <div className="rounded-md border border-line bg-raised p-4">
      <h3 className="m-0 text-sm font-semibold">{title}</h3>
      <ul className="m-0 mt-2 grid list-disc gap-1.5 pl-5">
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </div>
  )
}
