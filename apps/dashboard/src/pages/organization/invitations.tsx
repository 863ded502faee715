import type { Invitation, Organization } from '@dock/sdk'
import { type UseQueryResult, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Panel } from '../../components/page.tsx'
import { Pending } from '../../components/pending.tsx'
import { Row, Rows } from '../../components/rows.tsx'
import { RelativeTime, useNow } from '../../components/time.tsx'
import { showToast } from '../../components/toasts.tsx'
import { roleNames } from '../../lib/roles.ts'
import { useAction } from '../../lib/use-action.ts'
import { useSendsMail } from '../../lib/use-sends-mail.ts'
import { type InvitationLink, LinkDialog } from './link-dialog.tsx'

/** The invitations that nobody has accepted: send again, hand over by a link, withdraw. */
export function Invitations(props: { organization: Organization; query: UseQueryResult<Invitation[]> }) {
  const { organization, query } = props
  const client = useQueryClient()
  const now = useNow()
  const sendsMail = useSendsMail()
  const { busy, run } = useAction()
  const [linked, setLinked] = useState<InvitationLink>()

  const act = (id: string, work: () => Promise<unknown>): void =>
    run(id, async () => {
      await work()
      await client.invalidateQueries({ queryKey: ['invitation'] })
    })
  return (
    <Panel
      title="Invitations"
      text={`An open invitation takes a seat until it is accepted, withdrawn or over.${sendsMail ? '' : ' This server sends no mail: get the link of each invitation and hand it over.'}`}
    >
      {!query.data && <Pending error={query.error} />}
      {query.data?.length === 0 && <p className="m-0 text-sm text-muted">Nobody is invited at the moment.</p>}
      {query.data && query.data.length > 0 && (
        <Rows label="Invitations">
          {query.data.map((invitation) => {
            const { id, email } = invitation
            const params = { id: organization.id, invitationId: id }
            const isOver = Date.parse(invitation.expiresAt) <= now
            const isForOwners = invitation.role === 'owner' && organization.role !== 'owner'
            const reason = isForOwners ? 'Only an owner renews the invitation of an owner.' : undefined
            const fixed = busy === id || isForOwners
            return (
              <Row
                key={id}
                title={
                  <>
                    {email}
                    <Badge>{roleNames[invitation.role]}</Badge>
                    {isOver && <Badge tone="wait">over</Badge>}
                  </>
                }
                text={
                  <>
                    {isOver ? 'Ended' : 'Ends'} <RelativeTime at={invitation.expiresAt} />
                  </>
                }
              >
                {sendsMail && (
                  <Button
                    disabled={fixed}
                    title={reason}
                    onClick={() =>
                      act(id, async () => {
                        await api.call('resendInvitation', { params })
                        showToast(`Mailed again to ${email}`)
                      })
                    }
                  >
                    Send again
                  </Button>
                )}
                <Button
                  disabled={fixed}
                  title={reason ?? 'Makes a fresh link. The one from before stops working.'}
                  onClick={() => act(id, async () => setLinked(await api.call('linkInvitation', { params })))}
                >
                  Get link
                </Button>
                <Button
                  look="danger"
                  busy={busy === id}
                  onClick={() => act(id, () => api.call('revokeInvitation', { params }))}
                >
                  Withdraw
                </Button>
              </Row>
            )
          })}
        </Rows>
      )}
      <LinkDialog linked={linked} onClose={() => setLinked(undefined)} />
    </Panel>
  )
}
