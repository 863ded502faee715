import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { invitationsQuery, membersQuery } from '../../api/people-queries.ts'
import { meQuery } from '../../api/queries.ts'
import { Button } from '../../components/button.tsx'
import { Panel } from '../../components/page.tsx'
import { Pending } from '../../components/pending.tsx'
import { Rows } from '../../components/rows.tsx'
import { Invitations } from './invitations.tsx'
import { InviteDialog } from './invite-dialog.tsx'
import { MemberRow } from './member-row.tsx'
import { useOrganization } from './use-organization.ts'

/** The people of an organization, and those who are invited. */
export function MembersPage() {
  const { orgId, organization, isAdmin } = useOrganization()
  const me = useQuery(meQuery)
  const members = useQuery(membersQuery(orgId))
  const invitations = useQuery({ ...invitationsQuery(orgId), enabled: isAdmin })
  const [invites, setInvites] = useState(false)
  if (!organization) return null
  const owners = members.data?.filter(({ role }) => role === 'owner').length ?? 0
  const taken = (members.data?.length ?? 0) + (invitations.data?.filter(isOpen).length ?? 0)
  return (
    <>
      <Panel
        title="Members"
        text={
          isAdmin
            ? `${taken} of ${organization.seats} seats are taken by members and open invitations.`
            : 'Only admins invite people and change roles.'
        }
        actions={
          isAdmin && (
            <Button look="primary" onClick={() => setInvites(true)}>
              Invite
            </Button>
          )
        }
      >
        {members.data ? (
          <Rows label="Members">
            {members.data.map((member) => (
              <MemberRow
                key={member.userId}
                organization={organization}
                member={member}
                isSelf={member.userId === me.data?.id}
                isLastOwner={member.role === 'owner' && owners === 1}
              />
            ))}
          </Rows>
        ) : (
          <Pending error={members.error} />
        )}
      </Panel>
      {isAdmin && <Invitations organization={organization} query={invitations} />}
      <InviteDialog organization={organization} open={invites} onClose={() => setInvites(false)} />
    </>
  )
}

const isOpen = ({ expiresAt }: { expiresAt: string }): boolean => Date.parse(expiresAt) > Date.now()
