import type { NamedMember, Organization } from '@dock/sdk'
import { roles } from '@dock/sdk/dashboard-rules'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { OptionSelect } from '../../components/option-select.tsx'
import { Row } from '../../components/rows.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { type Role, reaches, roleNames } from '../../lib/roles.ts'
import { useAction } from '../../lib/use-action.ts'
import { visibleName } from '../../lib/visible-text.ts'

/** Says why the caller may not change or remove a member, or undefined if the caller may. */
const whyFixed = (caller: Role, member: NamedMember, isLastOwner: boolean): string | undefined => {
  if (isLastOwner) return 'An organization keeps at least one owner. Make somebody else an owner first.'
  if (member.role === 'owner' && caller !== 'owner') return 'Only an owner changes owners.'
  return undefined
}

/** A member with a role that admins change, and a button to remove or to leave. */
export function MemberRow(props: {
  organization: Organization
  member: NamedMember
  isSelf: boolean
  isLastOwner: boolean
}) {
  const { organization, member, isSelf, isLastOwner } = props
  const client = useQueryClient()
  const navigate = useNavigate()
  const [asks, setAsks] = useState(false)
  const { busy, run } = useAction()
  const isAdmin = reaches(organization.role, 'admin')
  const reason = whyFixed(organization.role, member, isLastOwner)
  const params = { id: organization.id, userId: member.userId }

  const changeRole = async (role: Role): Promise<void> => {
    await api.call('changeMemberRole', { params, body: { role } })
    await client.invalidateQueries({ queryKey: ['organization'] })
  }
  const remove = async (): Promise<void> => {
    if (isSelf) await api.call('leaveOrganization', { params: { id: organization.id } })
    else await api.call('removeMember', { params })
    if (isSelf) await navigate({ to: '/organizations' })
    await client.invalidateQueries({ queryKey: ['organization'] })
  }
  return (
    <Row
      title={
        <>
          <bdi className="break-words">{visibleName(member.name) || member.email}</bdi>
          {isSelf && <Badge>You</Badge>}
        </>
      }
      text={
        <>
          {member.name && <span className="break-all">{member.email} · </span>}
          Joined <RelativeTime at={member.createdAt} />
          {isAdmin && reason && <> · {reason}</>}
        </>
      }
    >
      {isAdmin ? (
        <OptionSelect
          label={`Role of ${member.email}`}
          isLabelHidden
          className="w-28"
          value={member.role}
          disabled={busy !== undefined || reason !== undefined}
          title={reason}
          options={roles.map((role) => ({
            value: role,
            label: roleNames[role],
            disabled: role === 'owner' && organization.role !== 'owner',
          }))}
          onChange={(role) => run('role', () => changeRole(role))}
        />
      ) : (
        <Badge>{roleNames[member.role]}</Badge>
      )}
      {(isAdmin || isSelf) && (
        <Button look="danger" disabled={reason !== undefined} title={reason} onClick={() => setAsks(true)}>
          {isSelf ? 'Leave' : 'Remove'}
        </Button>
      )}
      <ConfirmDialog
        title={isSelf ? `Leave ${organization.name}?` : `Remove ${member.email}?`}
        description={
          isSelf
            ? 'You lose access to its Docks, Snapshots and Environments at once. What you made stays. Only an admin can invite you again.'
            : 'This person loses access to its Docks, Snapshots and Environments at once. What they made stays in the organization.'
        }
        name={isSelf ? organization.name : member.email}
        action={isSelf ? 'Leave' : 'Remove'}
        open={asks}
        onClose={() => setAsks(false)}
        onConfirm={remove}
      />
    </Row>
  )
}
