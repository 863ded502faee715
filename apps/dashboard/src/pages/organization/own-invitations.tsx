import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { ownInvitationsQuery } from '../../api/people-queries.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Panel } from '../../components/page.tsx'
import { Row, Rows } from '../../components/rows.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { showToast } from '../../components/toasts.tsx'
import { roleNames } from '../../lib/roles.ts'
import { useAction } from '../../lib/use-action.ts'

/** Invitations to the person's address; nothing if there are none. */
export function OwnInvitations() {
  const client = useQueryClient()
  const { data } = useQuery(ownInvitationsQuery)
  const { busy, run } = useAction()
  const decide = async (id: string, decision: 'acceptOwnInvitation' | 'declineOwnInvitation') => {
    await api.call(decision, { params: { invitationId: id } })
    await Promise.all(
      ['invitation', 'organization', 'dock-list'].map((kind) =>
        client.invalidateQueries({ queryKey: [kind] }),
      ),
    )
    if (decision === 'acceptOwnInvitation') showToast('Welcome')
  }
  if (!data || data.length === 0) return null
  return (
    <Panel title="You are invited">
      <Rows label="Invitations to you">
        {data.map(({ id, organizationName, role, expiresAt }) => (
          <Row
            key={id}
            title={
              <>
                {organizationName}
                <Badge>{roleNames[role]}</Badge>
              </>
            }
            text={
              <>
                Ends <RelativeTime at={expiresAt} />
              </>
            }
          >
            <Button
              look="primary"
              busy={busy === id}
              onClick={() => run(id, () => decide(id, 'acceptOwnInvitation'))}
            >
              Join
            </Button>
            <Button disabled={busy === id} onClick={() => run(id, () => decide(id, 'declineOwnInvitation'))}>
              Decline
            </Button>
          </Row>
        ))}
      </Rows>
    </Panel>
  )
}
