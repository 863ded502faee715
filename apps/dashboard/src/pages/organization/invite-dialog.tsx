import type { Organization } from '@dock/sdk'
import { roles } from '@dock/sdk/dashboard-rules'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { Field } from '../../components/field.tsx'
import { FormDialog, textIn } from '../../components/form-dialog.tsx'
import { OptionSelect } from '../../components/option-select.tsx'
import { showToast } from '../../components/toasts.tsx'
import { type Role, roleNames, roleTexts } from '../../lib/roles.ts'

/** Asks for an address and a role, and mails the invitation. */
export function InviteDialog(props: { organization: Organization; open: boolean; onClose: () => void }) {
  const { organization } = props
  const client = useQueryClient()
  const [role, setRole] = useState<Role>('member')
  const invite = async (form: FormData): Promise<void> => {
    const email = textIn(form, 'email')
    await api.call('inviteMember', { params: { id: organization.id }, body: { email, role } })
    await client.invalidateQueries({ queryKey: ['invitation'] })
    showToast(`Invitation mailed to ${email}`)
  }
  return (
    <FormDialog
      title={`Invite to ${organization.name}`}
      description="The person gets a mail with a link that works for 7 days. Afterwards you can also copy a link here."
      action="Send invitation"
      open={props.open}
      onClose={props.onClose}
      onSubmit={invite}
    >
      <Field label="Email address" name="email" type="email" autoComplete="off" maxLength={254} required />
      <OptionSelect
        label="Role"
        value={role}
        hint={`${roleNames[role]}: ${roleTexts[role]}.`}
        options={roles.map((each) => ({
          value: each,
          label: roleNames[each],
          disabled: each === 'owner' && organization.role !== 'owner',
        }))}
        onChange={setRole}
      />
    </FormDialog>
  )
}
