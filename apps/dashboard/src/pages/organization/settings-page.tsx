import type { Organization } from '@dock/sdk'
import { nameLengthMax } from '@dock/sdk/dashboard-rules'
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
import { useOrganization } from './use-organization.ts'

/** Name, slug and seats of an organization, and its end. */
export function OrganizationSettingsPage() {
  const { organization, isAdmin, isOwner } = useOrganization()
  if (!organization) return null
  return (
    <>
      <Settings key={organization.updatedAt} organization={organization} isAdmin={isAdmin} />
      <Deletion organization={organization} isOwner={isOwner} />
    </>
  )
}

function Settings({ organization, isAdmin }: { organization: Organization; isAdmin: boolean }) {
  const client = useQueryClient()
  const save = async (form: FormData): Promise<void> => {
    await api.call('updateOrganization', {
      params: { id: organization.id },
      body: { name: textIn(form, 'name'), slug: textIn(form, 'slug'), seats: Number(form.get('seats')) },
    })
    await client.invalidateQueries({ queryKey: ['organization'] })
  }
  return (
    <Panel title="Settings" text={isAdmin ? undefined : 'Only admins change these.'}>
      <SettingsForm isReadOnly={!isAdmin} onSave={save}>
        <Field
          label="Name"
          name="name"
          defaultValue={organization.name}
          maxLength={nameLengthMax}
          disabled={!isAdmin}
          required
        />
        <Field
          label="Slug"
          name="slug"
          defaultValue={organization.slug}
          hint="3 to 63 small letters, digits and hyphens, with a letter or digit at both ends"
          pattern="[a-z0-9][a-z0-9\-]{1,61}[a-z0-9]"
          disabled={!isAdmin}
          required
        />
        <Field
          label="Seats"
          name="seats"
          type="number"
          min={1}
          defaultValue={organization.seats}
          hint="For members and open invitations together"
          disabled={!isAdmin}
          required
        />
      </SettingsForm>
    </Panel>
  )
}

function Deletion({ organization, isOwner }: { organization: Organization; isOwner: boolean }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [asks, setAsks] = useState(false)
  return (
    <Panel
      danger
      title="Delete this organization"
      text="It is gone for everybody at once. Its Docks, Snapshots, Templates, Environments and keys are removed. This cannot be undone."
    >
      <div className="flex flex-wrap items-center gap-3">
        <Button look="danger" disabled={!isOwner} onClick={() => setAsks(true)}>
          Delete organization
        </Button>
        {!isOwner && <span className="text-sm text-muted">Only an owner deletes an organization.</span>}
      </div>
      <ConfirmDialog
        title={`Delete ${organization.name}?`}
        description="All its Docks are stopped and deleted, with their disks, Snapshots, Templates, Environments and keys. All members lose access at once. This cannot be undone."
        name={organization.name}
        action="Delete organization"
        open={asks}
        onClose={() => setAsks(false)}
        onConfirm={async () => {
          await api.call('deleteOrganization', { params: { id: organization.id } })
          await navigate({ to: '/organizations' })
          await client.invalidateQueries()
        }}
      />
    </Panel>
  )
}
