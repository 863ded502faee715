import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api, isSignedOut } from '../../api/client.ts'
import { meQuery } from '../../api/queries.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { Button, buttonClass } from '../../components/button.tsx'
import { leavePage } from '../../lib/leave-page.ts'
import { signUpRefusal } from '../../lib/sign-up-policy.ts'
import { useFormAction } from '../../lib/use-form-action.ts'
import { VerificationNotice } from '../account/verification-notice.tsx'
import { signOut } from '../shell/sign-out.ts'
import { AuthLayout } from './auth-layout.tsx'
import { Greeting } from './greeting.tsx'

const confirmedEveryMs = 2_000

export function InvitationPage() {
  const { token } = useParams({ from: '/invitations/$token' })
  const { busy, error, run } = useFormAction()
  const [isDeclined, setDeclined] = useState(false)
  const me = useQuery({
    ...meQuery,
    retry: false,
    // The link that confirms the address may be opened in another tab or on another machine.
    refetchInterval: ({ state }) => (state.data?.emailVerified === false ? confirmedEveryMs : false),
  })
  const isUnconfirmed = me.data?.emailVerified === false
  const invitation = useQuery({
    queryKey: ['invitation', token],
    queryFn: ({ signal }) => api.call('readInvitation', { params: { token }, signal }),
    retry: false,
    enabled: !me.isPending && !isUnconfirmed,
  })
  const greeting = useQuery({
    queryKey: ['invitation', token, 'greeting'],
    queryFn: ({ signal }) => api.call('readInvitationGreeting', { params: { token }, signal }),
    retry: false,
  })
  const decide = async (decision: 'accept' | 'decline'): Promise<void> => {
    await api.call(decision === 'accept' ? 'acceptInvitation' : 'declineInvitation', { params: { token } })
    if (decision === 'accept') await leavePage('/')
    setDeclined(true)
  }
  const greeted = greeting.data && <Greeting greeting={greeting.data} />
  const next = `/invitations/${encodeURIComponent(token)}`
  if (isSignedOut(invitation.error) || isSignedOut(me.error))
    return (
      <AuthLayout title="You are invited">
        {greeted}
        {greeting.error && <ErrorAlert error={greeting.error} />}
        <p className="m-0 text-sm">Sign in with the address that is invited, or create an account for it.</p>
        <div className="grid gap-2">
          <Link to="/sign-in" search={{ next }} className={buttonClass('primary')}>
            Sign in
          </Link>
          {signUpRefusal(next) === undefined && (
            <Link to="/sign-up" search={{ next }} className={buttonClass()}>
              Create an account
            </Link>
          )}
        </div>
      </AuthLayout>
    )
  if (me.data && isUnconfirmed)
    return (
      <AuthLayout title="You are invited">
        {greeted}
        <VerificationNotice email={me.data.email} />
        <p className="m-0 text-sm text-muted">This page goes on by itself when the address is confirmed.</p>
      </AuthLayout>
    )
  return (
    <AuthLayout title="You are invited">
      {invitation.error && <ErrorAlert error={invitation.error} />}
      {isDeclined && <p className="m-0 text-sm">You have declined the invitation.</p>}
      {(invitation.error || isDeclined) && (
        <Link to="/" search={{}} className={buttonClass(isDeclined ? 'primary' : 'plain')}>
          All Docks
        </Link>
      )}
      {invitation.data && !isDeclined && (
        <>
          {greeted ?? <Greeting greeting={{ ...invitation.data, invitedBy: null }} />}
          {error !== undefined && <ErrorAlert error={error} />}
          <div className="grid gap-2">
            <Button look="primary" busy={busy} onClick={() => run(() => decide('accept'))}>
              Join
            </Button>
            <Button busy={busy} onClick={() => run(() => decide('decline'))}>
              Decline
            </Button>
          </div>
        </>
      )}
      {me.data && (
        <p className="m-0 border-t border-line pt-4 text-sm text-muted">
          You are signed in as <bdi>{me.data.email}</bdi>.{' '}
          <button
            type="button"
            onClick={() => void signOut(next)}
            className="cursor-pointer text-accent underline"
          >
            Use another account
          </button>
        </p>
      )}
    </AuthLayout>
  )
}
