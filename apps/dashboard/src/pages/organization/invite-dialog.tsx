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
import { useSendsMail } from '../../lib/use-sends-mail.ts'
import { type InvitationLink, LinkDialog } from './link-dialog.tsx'

/** Asks for an address and a role, and mails the invitation. Without a mail server it shows the link to hand over. */
export function InviteDialog(props: { organization: Organization; open: boolean; onClose: () => void }) {
  const { organization } = props
  const client = useQueryClient()
  const [role, setRole] = useState<Role>('member')
  const [linked, setLinked] = useState<InvitationLink>()
  const sendsMail = useSendsMail()
  const showLink = async (email: string): Promise<void> => {
    const sent = await api.call('listInvitations', { params: { id: organization.id } })
    const invitation = sent.find((each) => each.email === email.toLowerCase())
    // The service invites no member, and says nothing about it.
    if (!invitation) return showToast(`${email} is a member already`)
    const params = { id: organization.id, invitationId: invitation.id }
    setLinked(await api.call('linkInvitation', { params }))
  }
  const invite = async (form: FormData): Promise<void> => {
    const email = textIn(form, 'email')
    await api.call('inviteMember', { params: { id: organization.id }, body: { email, role } })
    if (sendsMail) showToast(`Invitation mailed to ${email}`)
    else await showLink(email)
    await client.invalidateQueries({ queryKey: ['invitation'] })
  }
  return (
    <>
      <FormDialog
        title={`Invite to ${organization.name}`}
        description={
          sendsMail
            ? 'The person gets a mail with a link that works for 7 days. Afterwards you can also copy a link here.'
            : 'This server sends no mail. You get a link that works for 7 days, and hand it over yourself.'
        }
        action={sendsMail ? 'Send invitation' : 'Make invitation'}
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
      <LinkDialog linked={linked} onClose={() => setLinked(undefined)} />
    </>
  )
}
