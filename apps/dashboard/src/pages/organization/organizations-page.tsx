import { nameLengthMax } from '@dock/sdk/dashboard-rules'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { organizationsQuery } from '../../api/queries.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Empty } from '../../components/empty.tsx'
import { Field } from '../../components/field.tsx'
import { FormDialog, textIn } from '../../components/form-dialog.tsx'
import { Page, Panel } from '../../components/page.tsx'
import { Pending } from '../../components/pending.tsx'
import { Row, Rows } from '../../components/rows.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { roleNames } from '../../lib/roles.ts'
import { FailedConfirmation } from '../account/failed-confirmation.tsx'
import { OwnInvitations } from './own-invitations.tsx'

const route = getRouteApi('/shell/organizations')

/** The person's organizations, and the invitations to more. */
export function OrganizationsPage() {
  const { error } = route.useSearch()
  const client = useQueryClient()
  const navigate = useNavigate()
  const organizations = useQuery(organizationsQuery)
  const [makes, setMakes] = useState(false)
  const make = async (form: FormData): Promise<void> => {
    const { id } = await api.call('createOrganization', { body: { name: textIn(form, 'name') } })
    await client.invalidateQueries({ queryKey: ['organization'] })
    await navigate({ to: '/organization/$orgId/members', params: { orgId: id } })
  }
  return (
    <Page
      title="Organizations"
      text="Docks, Environments and limits belong to an organization. Its members share them."
      actions={
        <Button look="primary" onClick={() => setMakes(true)}>
          New organization
        </Button>
      }
    >
      {error !== undefined && <FailedConfirmation />}
      <OwnInvitations />
      {!organizations.data && <Pending error={organizations.error} />}
      {organizations.data?.length === 0 && (
        <Empty
          title="No organization yet"
          text="Make one to start your first Dock, or open the link of an invitation."
        />
      )}
      {organizations.data && organizations.data.length > 0 && (
        <Panel title="Yours">
          <Rows label="Organizations">
            {organizations.data.map((each) => (
              <Row
                key={each.id}
                title={
                  <>
                    <Link
                      to="/organization/$orgId/members"
                      params={{ orgId: each.id }}
                      className="hover:underline"
                    >
                      {each.name}
                    </Link>
                    <Badge>{roleNames[each.role]}</Badge>
                  </>
                }
                text={
                  <>
                    <span className="font-mono">{each.slug}</span> · made <RelativeTime at={each.createdAt} />
                  </>
                }
              />
            ))}
          </Rows>
        </Panel>
      )}
      <FormDialog
        title="New organization"
        description="You become its owner. It starts with one workspace and the Environment “default”."
        action="Make organization"
        open={makes}
        onClose={() => setMakes(false)}
        onSubmit={make}
      >
        <Field label="Name" name="name" maxLength={nameLengthMax} autoComplete="organization" required />
      </FormDialog>
    </Page>
  )
}
