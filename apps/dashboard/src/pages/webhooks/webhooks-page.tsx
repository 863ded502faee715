import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Webhook } from 'lucide-react'
import { useState } from 'react'
import { webhooksQuery } from '../../api/operator-queries.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Empty } from '../../components/empty.tsx'
import { NoOrganization } from '../../components/no-organization.tsx'
import { Page } from '../../components/page.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { Cell, Row, Table } from '../../components/table.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { useCurrentOrganization } from '../../lib/current-organization.ts'
import { NewWebhookDialog } from './new-webhook-dialog.tsx'
import { SecretDialog } from './secret-dialog.tsx'

/** The webhook endpoints of the organization. */
export function WebhooksPage() {
  const { organization, hasNone } = useCurrentOrganization()
  const { data, error } = useQuery(webhooksQuery(organization?.id))
  const [asksNew, setAsksNew] = useState(false)
  const [secret, setSecret] = useState<string>()
  const mayChange = organization !== undefined && organization.role !== 'member'
  const newButton = mayChange && (
    <Button look="primary" onClick={() => setAsksNew(true)}>
      New webhook
    </Button>
  )
  return (
    <Page
      title="Webhooks"
      text="Dock tells your own services when a Dock is ready, stopped or in trouble."
      actions={newButton}
    >
      {error && <ErrorAlert error={error} />}
      {hasNone && <NoOrganization subject="Webhooks" />}
      {!data && !error && !hasNone && <Skeleton />}
      {data?.length === 0 && (
        <Empty
          title="No webhooks yet"
          icon={<Webhook size={18} />}
          text={
            mayChange
              ? 'Add the address of a service that waits for events of your Docks.'
              : 'An admin of the organization can add one.'
          }
        />
      )}
      {data && data.length > 0 && organization && (
        <Table label="Webhooks" columns={['Name', 'Address', 'Events', 'State', 'Added']}>
          {data.map((endpoint) => (
            <Row key={endpoint.id}>
              <Cell className="max-w-56 font-medium">
                <Link
                  to="/webhooks/$id"
                  params={{ id: endpoint.id }}
                  search={{ organization: organization.id }}
                  className="block truncate hover:underline"
                >
                  <bdi>{endpoint.name}</bdi>
                </Link>
              </Cell>
              <Cell className="max-w-72 truncate font-mono text-xs">{endpoint.url}</Cell>
              <Cell className="text-muted">{endpoint.events.length}</Cell>
              <Cell>
                <Badge tone={endpoint.disabled ? 'bad' : 'good'}>
                  {endpoint.disabled ? 'disabled' : 'enabled'}
                </Badge>
              </Cell>
              <Cell className="whitespace-nowrap text-muted">
                <RelativeTime at={endpoint.createdAt} />
              </Cell>
            </Row>
          ))}
        </Table>
      )}
      {organization && (
        <NewWebhookDialog
          organizationId={organization.id}
          open={asksNew}
          onClose={() => setAsksNew(false)}
          onSecret={setSecret}
        />
      )}
      <SecretDialog secret={secret} onClose={() => setSecret(undefined)} />
    </Page>
  )
}
