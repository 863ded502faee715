import type { InvitationGreeting } from '@dock/sdk'
import { RelativeTime } from '../../components/time.tsx'

/** Says who invites to which organization. Names are chosen by people, and stand apart from the text. */
export function Greeting({ greeting }: { greeting: InvitationGreeting }) {
  const { invitedBy, organizationName, role, expiresAt } = greeting
  return (
    <p className="m-0 text-sm">
      {invitedBy !== null && (
        <>
          <bdi className="font-medium">{invitedBy}</bdi> invites you.{' '}
        </>
      )}
      Join{' '}
      <strong>
        <bdi>{organizationName}</bdi>
      </strong>{' '}
      as {role}. The invitation ends <RelativeTime at={expiresAt} />.
    </p>
  )
}
