import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, Outlet } from '@tanstack/react-router'
import { useEffect } from 'react'
import { organizationQuery } from '../../api/people-queries.ts'
import { Badge } from '../../components/badge.tsx'
import { Page } from '../../components/page.tsx'
import { Pending } from '../../components/pending.tsx'
import { TabLinks, tabClass } from '../../components/tabs.tsx'
import { chooseOrganization } from '../../lib/current-organization.ts'
import { reaches, roleNames } from '../../lib/roles.ts'

const route = getRouteApi('/shell/organization/$orgId')

const tabs = [
  { to: '/organization/$orgId/members', name: 'Members' },
  { to: '/organization/$orgId/workspaces', name: 'Workspaces' },
  { to: '/organization/$orgId/usage', name: 'Usage and limits' },
  { to: '/organization/$orgId/retention', name: 'Retention' },
  { to: '/organization/$orgId/audit', name: 'Audit log', role: 'owner' },
  { to: '/organization/$orgId/settings', name: 'Settings' },
] as const

/** The heading of an organization's pages, with the switch to another organization. */
export function OrganizationLayout() {
  const { orgId } = route.useParams()
  const { data: organization, error } = useQuery(organizationQuery(orgId))
  const id = organization?.id
  useEffect(() => {
    if (id !== undefined) chooseOrganization(id)
  }, [id])
  return (
    <Page
      title={organization?.name ?? 'Organization'}
      back={<Link to="/organizations">All organizations</Link>}
      badges={organization && <Badge>{roleNames[organization.role]}</Badge>}
    >
      {organization ? (
        <>
          <TabLinks label="Parts of the organization">
            {tabs
              .filter((tab) => !('role' in tab) || reaches(organization.role, tab.role))
              .map(({ to, name }) => (
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
    </Page>
  )
}
