import type { DeliveryAttempt } from '@dock/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { deliveriesQuery } from '../../api/operator-queries.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { Button } from '../../components/button.tsx'
import { Empty } from '../../components/empty.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { Cell, Row, Table } from '../../components/table.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { showToast } from '../../components/toasts.tsx'
import { useAction } from '../../lib/use-action.ts'
import { DeliveryDialog } from './delivery-dialog.tsx'
import { StatusBadge } from './status-badge.tsx'

/** What the receiver answered, in a few words. */
function Answer({ attempt }: { attempt: DeliveryAttempt }) {
  return (
    <span className="flex min-w-0 flex-wrap items-center gap-2">
      <StatusBadge status={attempt.status} />
      {attempt.status === null && <span className="min-w-48 text-xs text-muted">{attempt.error}</span>}
    </span>
  )
}

/** The latest attempts to deliver, each with the event that was sent and the answer. */
export function Deliveries(props: { organizationId: string; endpointId: string; mayChange: boolean }) {
  const { organizationId, endpointId, mayChange } = props
  const { data, error } = useQuery(deliveriesQuery(organizationId, endpointId))
  const { busy, run } = useAction()
  const [shown, setShown] = useState<DeliveryAttempt>()
  if (error) return <ErrorAlert error={error} />
  if (!data) return <Skeleton />
  if (data.length === 0)
    return (
      <Empty
        title="Nothing was sent yet"
        text="Send a test to see whether your receiver takes events and checks their signature."
      />
    )
  const redeliver = (deliveryId: string) =>
    run(deliveryId, async () => {
      await api.call('redeliverWebhook', {
        params: { id: endpointId, deliveryId },
        query: { organizationId },
      })
      setShown(undefined)
      showToast('The event is being sent again')
    })
  return (
    <>
      <Table label="Deliveries" columns={['Time', 'Event', 'Answer', 'Event id', '']}>
        {data.map((attempt) => (
          <Row key={attempt.id}>
            <Cell className="whitespace-nowrap text-muted">
              <RelativeTime at={attempt.createdAt} />
            </Cell>
            <Cell className="whitespace-nowrap font-mono text-xs">{attempt.event}</Cell>
            <Cell>
              <Answer attempt={attempt} />
            </Cell>
            <Cell className="whitespace-nowrap font-mono text-xs text-muted">{attempt.eventId}</Cell>
            <Cell className="whitespace-nowrap text-right">
              <Button
                size="small"
                aria-label={`Details of ${attempt.event} of ${attempt.createdAt}`}
                onClick={() => setShown(attempt)}
              >
                Details
              </Button>
              {mayChange && (
                <Button
                  size="small"
                  className="ml-2"
                  busy={busy === attempt.id}
                  aria-label={`Redeliver ${attempt.event} of ${attempt.createdAt}`}
                  onClick={() => redeliver(attempt.id)}
                >
                  Redeliver
                </Button>
              )}
            </Cell>
          </Row>
        ))}
      </Table>
      <DeliveryDialog
        organizationId={organizationId}
        attempt={shown}
        onRedeliver={mayChange && shown ? () => redeliver(shown.id) : undefined}
        busy={busy !== undefined}
        onClose={() => setShown(undefined)}
      />
    </>
  )
}
