/** Organizations: people, workspaces, usage and settings. */
import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { auditSearch } from './audit-search.ts'
import { searchText } from './search-text.ts'
import { shellRoute } from './shell-route.ts'

const organizations = createRoute({
  getParentRoute: () => shellRoute,
  path: '/organizations',
  // The service adds an error if the link of a mail could not confirm the address.
  validateSearch: (search): { error?: string } => ({ error: searchText(search.error) }),
  component: lazyRouteComponent(
    () => import('../pages/organization/organizations-page.tsx'),
    'OrganizationsPage',
  ),
})

const organization = createRoute({
  getParentRoute: () => shellRoute,
  path: '/organization/$orgId',
  component: lazyRouteComponent(
    () => import('../pages/organization/organization-layout.tsx'),
    'OrganizationLayout',
  ),
})
const start = createRoute({
  getParentRoute: () => organization,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/organization/$orgId/members', params, replace: true })
  },
})
const members = createRoute({
  getParentRoute: () => organization,
  path: '/members',
  component: lazyRouteComponent(() => import('../pages/organization/members-page.tsx'), 'MembersPage'),
})
const workspaces = createRoute({
  getParentRoute: () => organization,
  path: '/workspaces',
  component: lazyRouteComponent(() => import('../pages/organization/workspaces-page.tsx'), 'WorkspacesPage'),
})
const usage = createRoute({
  getParentRoute: () => organization,
  path: '/usage',
  component: lazyRouteComponent(() => import('../pages/organization/usage-page.tsx'), 'UsagePage'),
})
const retention = createRoute({
  getParentRoute: () => organization,
  path: '/retention',
  component: lazyRouteComponent(() => import('../pages/organization/retention-page.tsx'), 'RetentionPage'),
})
const audit = createRoute({
  getParentRoute: () => organization,
  path: '/audit',
  validateSearch: auditSearch,
  component: lazyRouteComponent(() => import('../pages/organization/audit-page.tsx'), 'AuditPage'),
})
const settings = createRoute({
  getParentRoute: () => organization,
  path: '/settings',
  component: lazyRouteComponent(
    () => import('../pages/organization/settings-page.tsx'),
    'OrganizationSettingsPage',
  ),
})

export const organizationRoutes = [
  organizations,
  organization.addChildren([start, members, workspaces, usage, retention, audit, settings]),
] as const
