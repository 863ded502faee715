import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, Outlet, useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { organizationQuery } from '../../api/people-queries.ts'
import { organizationsQuery } from '../../api/queries.ts'
import { Badge } from '../../components/badge.tsx'
import { OptionSelect } from '../../components/option-select.tsx'
import { Pending } from '../../components/pending.tsx'
import { TabLinks, tabClass } from '../../components/tabs.tsx'
import { rememberOrganization } from '../../lib/chosen-organization.ts'
import { roleNames } from '../../lib/roles.ts'

const route = getRouteApi('/shell/organization/$orgId')

const tabs = [
  { to: '/organization/$orgId/members', name: 'Members' },
  { to: '/organization/$orgId/workspaces', name: 'Workspaces' },
  { to: '/organization/$orgId/usage', name: 'Usage and limits' },
  { to: '/organization/$orgId/retention', name: 'Retention' },
  { to: '/organization/$orgId/settings', name: 'Settings' },
] as const

/** The heading of an organization's pages, with the switch to another organization. */
export function OrganizationLayout() {
  const { orgId } = route.useParams()
  const navigate = useNavigate()
  const { data: organization, error } = useQuery(organizationQuery(orgId))
  const { data: all = [] } = useQuery(organizationsQuery)
  const id = organization?.id
  useEffect(() => {
    if (id !== undefined) rememberOrganization(id)
  }, [id])
  return (
    <main className="mx-auto grid max-w-5xl gap-4 p-4">
      <div className="flex flex-wrap items-center gap-3">
        <h1 className="m-0 min-w-0 text-xl font-semibold">{organization?.name ?? 'Organization'}</h1>
        {organization && <Badge>{roleNames[organization.role]}</Badge>}
        <div className="flex w-full flex-wrap items-center justify-between gap-3 sm:ml-auto sm:w-auto">
          {organization && all.length > 1 && (
            <OptionSelect
              label="Show another organization"
              isLabelHidden
              className="w-48"
              value={orgId}
              options={all.map((each) => ({ value: each.id, label: each.name }))}
              onChange={(next) =>
                void navigate({ to: '/organization/$orgId/members', params: { orgId: next } })
              }
            />
          )}
          <Link to="/organizations" className="text-sm text-accent underline">
            All organizations
          </Link>
        </div>
      </div>
      {organization ? (
        <>
          <TabLinks label="Parts of the organization">
            {tabs.map(({ to, name }) => (
              <Link key={to} to={to} params={{ orgId }} className={tabClass}>
                {name}
              </Link>
            ))}
          </TabLinks>
          <Outlet />
        </>
      ) : (
        <Pending error={error} />
      )}
    </main>
  )
}
