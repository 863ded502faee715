import type { WebhookEndpoint } from '@dock/sdk'
import { previousSecretHours } from '@dock/sdk/dashboard-rules'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { webhooksQuery } from '../../api/operator-queries.ts'
import { ErrorAlert, Notice } from '../../components/alert.tsx'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Empty } from '../../components/empty.tsx'
import { Facts, Page, Panel } from '../../components/page.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { showToast } from '../../components/toasts.tsx'
import { useCurrentOrganization } from '../../lib/current-organization.ts'
import { useAction } from '../../lib/use-action.ts'
import { Deliveries } from './deliveries.tsx'
import { SecretDialog } from './secret-dialog.tsx'

const route = getRouteApi('/shell/webhooks/$id')

/** One endpoint with its deliveries. */
export function WebhookPage() {
  const { id } = route.useParams()
  const { organization: named } = route.useSearch()
  const { organizations, organization: current } = useCurrentOrganization()
  const organization = organizations.find((each) => each.id === named) ?? current
  const { data, error } = useQuery(webhooksQuery(organization?.id))
  const endpoint = data?.find((each) => each.id === id)
  const back = <Link to="/webhooks">Webhooks</Link>
  if (endpoint && organization)
    return <Endpoint endpoint={endpoint} mayChange={organization.role !== 'member'} />
  return (
    <Page title="Webhook" back={back}>
      {error && <ErrorAlert error={error} />}
      {!data && !error && <Skeleton />}
      {data && (
        <Empty title="There is no such webhook" text="It was removed, or another organization has it." />
      )}
    </Page>
  )
}

function Endpoint({ endpoint, mayChange }: { endpoint: WebhookEndpoint; mayChange: boolean }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const { busy, run } = useAction()
  const [asksDelete, setAsksDelete] = useState(false)
  const [secret, setSecret] = useState<string>()
  const at = { params: { id: endpoint.id }, query: { organizationId: endpoint.organizationId } }
  const again = () => client.invalidateQueries({ queryKey: ['webhook'] })
  const test = async (): Promise<void> => {
    await api.call('testWebhookEndpoint', at)
    showToast('A test event is on its way')
  }
  const rotate = async (): Promise<void> => {
    setSecret((await api.call('rotateWebhookSecret', at)).secret)
    await again()
  }
  const enable = async (): Promise<void> => {
    await api.call('enableWebhookEndpoint', at)
    await again()
  }
  return (
    <Page
      title={endpoint.name}
      back={<Link to="/webhooks">Webhooks</Link>}
      actions={
        mayChange && (
          <>
            <Button busy={busy === 'test'} onClick={() => run('test', test)}>
              Send a test
            </Button>
            <Button busy={busy === 'rotate'} onClick={() => run('rotate', rotate)}>
              Rotate secret
            </Button>
            <Button look="danger" onClick={() => setAsksDelete(true)}>
              Delete
            </Button>
          </>
        )
      }
    >
      {endpoint.disabled && (
        <Notice tone="wait">
          <p className="m-0">
            The receiver answered 410 Gone, so nothing is sent to it any more. What happened meanwhile is not
            sent later.
          </p>
          {mayChange && (
            <div>
              <Button size="small" busy={busy === 'enable'} onClick={() => run('enable', enable)}>
                Enable again
              </Button>
            </div>
          )}
        </Notice>
      )}
      <Panel>
        <Facts
          facts={[
            [
              'Address',
              <code key="address" className="font-mono text-xs">
                {endpoint.url}
              </code>,
            ],
            [
              'Events',
              <span key="events" className="flex flex-wrap gap-1.5">
                {endpoint.events.map((event) => (
                  <Badge key={event}>{event}</Badge>
                ))}
              </span>,
            ],
            [
              'Secret',
              <code key="secret" className="font-mono text-xs">
                {endpoint.secretPrefix}…
              </code>,
            ],
            ['Added', <RelativeTime key="added" at={endpoint.createdAt} />],
          ]}
        />
        <p className="m-0 text-xs text-muted">
          After a rotation, deliveries carry signatures of both secrets for {previousSecretHours} hours.
        </p>
      </Panel>
      <h2 className="m-0 text-base font-semibold">Latest deliveries</h2>
      <Deliveries
        organizationId={endpoint.organizationId}
        endpointId={endpoint.id}
        mayChange={mayChange && !endpoint.disabled}
      />
      <ConfirmDialog
        title={`Delete ${endpoint.name}?`}
        description="It receives nothing more, and the record of its deliveries is deleted."
        name={endpoint.name}
        action="Delete"
        open={asksDelete}
        onClose={() => setAsksDelete(false)}
        onConfirm={async () => {
          await api.call('deleteWebhookEndpoint', at)
          await again()
          await navigate({ to: '/webhooks' })
        }}
      />
      <SecretDialog secret={secret} onClose={() => setSecret(undefined)} />
    </Page>
  )
}
