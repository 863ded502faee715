import type { BillingPlan, PlannedOrganizationPage } from '@dock/sdk'
import { searchLengthMax } from '@dock/sdk/dashboard-rules'
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { plansQuery } from '../../api/operator-queries.ts'
import { ErrorAlert, Notice } from '../../components/alert.tsx'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { bareControlClass } from '../../components/field.tsx'
import { Form } from '../../components/form.tsx'
import { MoreButton } from '../../components/more-button.tsx'
import { Page } from '../../components/page.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { Cell, Row, Table } from '../../components/table.tsx'
import { showToast } from '../../components/toasts.tsx'
import { useAction } from '../../lib/use-action.ts'
import { UnverifiedPeople } from './unverified-people.tsx'

type Planned = PlannedOrganizationPage['organizations'][number]

const route = getRouteApi('/shell/plans')

const money = (micros: number, currency: string | undefined): string => {
  const amount = (micros / 1_000_000).toFixed(2)
  return currency === undefined || currency === 'XXX' ? amount : `${amount} ${currency}`
}

/** All organizations with their plans and what they used. */
export function PlansPage() {
  const { q } = route.useSearch()
  const navigate = useNavigate()
  const listed = useInfiniteQuery(plansQuery(q))
  const { data, error } = listed
  const plans = data?.pages[0]?.plans ?? []
  return (
    <Page title="Plans" text="What each organization may run, and what its month has cost so far." wide>
      <UnverifiedPeople />
      <Form
        className="flex gap-2"
        onSubmit={(fields) => {
          const wanted = String(fields.get('q') ?? '')
          void navigate({ to: '/plans', search: { q: wanted || undefined } })
        }}
      >
        <input
          type="search"
          name="q"
          aria-label="Search by name or slug"
          placeholder="Search by name or slug"
          defaultValue={q}
          maxLength={searchLengthMax}
          className={`min-w-0 max-w-md flex-1 ${bareControlClass}`}
        />
        <Button type="submit">Search</Button>
      </Form>
      {error && <ErrorAlert error={error} />}
      {!data && !error && <Skeleton lines={5} />}
      {data && plans.length === 0 && (
        <Notice>This server has no plans. Write them into plans.json and restart it.</Notice>
      )}
      {data && (
        <Table label="Organizations" columns={['Organization', 'Plan', 'State', 'Live Docks', 'This month']}>
          {data.pages.map((page) =>
            page.organizations.map((organization) => (
              <PlanRow key={organization.id} organization={organization} plans={plans} />
            )),
          )}
        </Table>
      )}
      <MoreButton pages={listed}>Show older organizations</MoreButton>
    </Page>
  )
}

function PlanRow({ organization, plans }: { organization: Planned; plans: readonly BillingPlan[] }) {
  const client = useQueryClient()
  const { busy, run } = useAction()
  const { id, name, plan } = organization
  const names = [...new Set([...plans.map((each) => each.name), ...(plan === null ? [] : [plan])])]
  const change = (wanted: string) =>
    run('plan', async () => {
      await api.call('setOrganizationPlan', {
        params: { id },
        body: { plan: wanted === '' ? null : wanted },
      })
      showToast(wanted === '' ? `${name} has no plan now` : `${name} has the plan ${wanted} now`)
      await client.invalidateQueries({ queryKey: ['plan'] })
    })
  const used = plans.find((each) => each.name === plan)
  return (
    <Row>
      <Cell className="max-w-64">
        <bdi className="block truncate font-medium">{name}</bdi>
        <span className="block truncate text-xs text-muted">{organization.slug}</span>
      </Cell>
      <Cell>
        <select
          aria-label={`Plan of ${name}`}
          value={plan ?? ''}
          disabled={busy !== undefined || names.length === 0}
          onChange={({ target }) => void change(target.value)}
          className={`cursor-pointer ${bareControlClass}`}
        >
          <option value="">No plan</option>
          {names.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
      </Cell>
      <Cell>
        {plan !== null && (
          <Badge tone={organization.active ? 'good' : 'bad'}>
            {organization.active ? 'active' : 'not active'}
          </Badge>
        )}
      </Cell>
      <Cell className="whitespace-nowrap">
        {organization.liveDocks}
        {used?.concurrentDocks != null && <span className="text-muted"> of {used.concurrentDocks}</span>}
      </Cell>
      <Cell className="whitespace-nowrap">
        {money(organization.spentMicros, used?.currency)}
        {used?.monthlyBudgetMicros != null && (
          <span className="text-muted"> of {money(used.monthlyBudgetMicros, used.currency)}</span>
        )}
      </Cell>
    </Row>
  )
}
