import type { UnverifiedPeople as People } from '@dock/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { unverifiedPeopleQuery } from '../../api/operator-queries.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { Button } from '../../components/button.tsx'
import { Panel } from '../../components/page.tsx'
import { Row, Rows } from '../../components/rows.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { showToast } from '../../components/toasts.tsx'
import { useAction } from '../../lib/use-action.ts'

type Person = People['people'][number]

/** People whose address nobody has confirmed; nothing if there are none. An instance admin can vouch for it, for example if no mail is sent. */
export function UnverifiedPeople() {
  const client = useQueryClient()
  const { data, error } = useQuery(unverifiedPeopleQuery)
  const { busy, run } = useAction()
  const vouch = async ({ id, email }: Person): Promise<void> => {
    try {
      await api.call('vouchForAddress', { params: { id } })
      showToast(`${email} is confirmed`)
    } finally {
      void client.invalidateQueries({ queryKey: ['unverified'] })
    }
  }
  if (data?.people.length === 0) return null
  return (
    <Panel
      title="People who wait"
      text="They made an account, and nobody has confirmed their address. Ask the owner of the address before you vouch for it: anybody could have typed it. Dock records that it was you."
    >
      {error && <ErrorAlert error={error} />}
      {data && (
        <Rows label="People who wait">
          {data.people.map((person) => (
            <Row key={person.id} title={<bdi>{person.email}</bdi>} text={<Origin person={person} />}>
              <Button
                busy={busy === person.id}
                disabled={busy !== undefined}
                aria-label={`Vouch for ${person.email}`}
                onClick={() => run(person.id, () => vouch(person))}
              >
                Vouch for address
              </Button>
            </Row>
          ))}
        </Rows>
      )}
      {data?.hasMore && <p className="m-0 text-sm text-muted">These are the newest. There are more.</p>}
    </Panel>
  )
}

function Origin({ person: { name, createdAt, invitation } }: { person: Person }) {
  return (
    <>
      Calls themselves <bdi>{name}</bdi>, signed up <RelativeTime at={createdAt} />{' '}
      {invitation ? (
        <>
          with an invitation to <bdi>{invitation.organizationName}</bdi>
          {invitation.invitedBy !== null && (
            <>
              {' '}
              by <bdi>{invitation.invitedBy}</bdi>
            </>
          )}
        </>
      ) : (
        'without an open invitation'
      )}
      .
    </>
  )
}
