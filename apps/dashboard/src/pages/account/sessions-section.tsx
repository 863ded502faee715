import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { authenticate, SignInError } from '../../api/client.ts'
import { type Session, sessionsQuery } from '../../api/people-queries.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Panel } from '../../components/page.tsx'
import { Pending } from '../../components/pending.tsx'
import { Row, Rows } from '../../components/rows.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { deviceName } from '../../lib/device-name.ts'
import { useAction } from '../../lib/use-action.ts'

/** Where the person is signed in. */
export function SessionsSection() {
  const client = useQueryClient()
  const sessions = useQuery(sessionsQuery)
  const { busy, run } = useAction()
  const others = sessions.data?.filter(({ isCurrent }) => !isCurrent) ?? []
  const end = (name: string, path: string, body: Record<string, unknown>): void =>
    run(name, async () => {
      await authenticate(path, body)
      await client.invalidateQueries({ queryKey: ['session'] })
    })
  if (isTooOld(sessions.error))
    return (
      <Panel
        title="Sessions"
        text="You signed in more than a day ago. To see and end your sessions, sign out and in again."
      >
        <Link to="/sign-in" search={{ next: '/account' }} className="text-sm text-accent underline">
          Sign in again
        </Link>
      </Panel>
    )
  return (
    <Panel
      title="Sessions"
      text="Where you are signed in. End what you do not know, and change your password."
      actions={
        others.length > 0 && (
          <Button
            look="danger"
            busy={busy === 'all'}
            onClick={() => end('all', '/revoke-other-sessions', {})}
          >
            End all others
          </Button>
        )
      }
    >
      {!sessions.data && <Pending error={sessions.error} />}
      {sessions.data && (
        <Rows label="Sessions">
          {sessions.data.map((session) => (
            <SessionRow
              key={session.id}
              session={session}
              busy={busy === session.id}
              onEnd={() => end(session.id, '/revoke-session', { token: session.token })}
            />
          ))}
        </Rows>
      )}
    </Panel>
  )
}

/** True if the library wants a newer sign-in before it lists sessions. */
const isTooOld = (error: unknown): boolean =>
  error instanceof SignInError && error.code === 'SESSION_NOT_FRESH'

function SessionRow(props: { session: Session; busy: boolean; onEnd: () => void }) {
  const { session, busy, onEnd } = props
  const device = deviceName(session.userAgent)
  return (
    <Row
      title={
        <>
          <span title={session.userAgent ?? undefined}>{device}</span>
          {session.isCurrent && <Badge tone="good">this one</Badge>}
        </>
      }
      text={
        <>
          {session.ipAddress ?? 'unknown address'} · signed in <RelativeTime at={session.createdAt} /> · ends{' '}
          <RelativeTime at={session.expiresAt} />
        </>
      }
    >
      {!session.isCurrent && (
        <Button busy={busy} aria-label={`End the session of ${device}`} onClick={onEnd}>
          End
        </Button>
      )}
    </Row>
  )
}
