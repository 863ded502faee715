/** Webhooks, the inbox, and the operator's side: hosts, plans and the audit log. Also the gallery, and addresses that moved. */
import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { auditSearch } from './audit-search.ts'
import { rootRoute } from './root-route.ts'
import { searchText } from './search-text.ts'
import { shellRoute } from './shell-route.ts'

/** Mails of alerts lead here. The list of Docks is the first page. */
const docks = createRoute({
  getParentRoute: () => shellRoute,
  path: '/docks',
  beforeLoad: () => {
    throw redirect({ to: '/', search: {}, replace: true })
  },
})

/** The built pages have neither this route nor its code. It needs no service. */
export const galleryRoutes = import.meta.env.DEV
  ? [
      createRoute({
        getParentRoute: () => rootRoute,
        path: '/gallery',
        component: lazyRouteComponent(() => import('../pages/gallery/gallery-page.tsx'), 'GalleryPage'),
      }),
    ]
  : []

const webhooks = createRoute({
  getParentRoute: () => shellRoute,
  path: '/webhooks',
  component: lazyRouteComponent(() => import('../pages/webhooks/webhooks-page.tsx'), 'WebhooksPage'),
})

const webhook = createRoute({
  getParentRoute: () => shellRoute,
  path: '/webhooks/$id',
  validateSearch: (search): { organization?: string } => ({ organization: searchText(search.organization) }),
  component: lazyRouteComponent(() => import('../pages/webhooks/webhook-page.tsx'), 'WebhookPage'),
})

const inbox = createRoute({
  getParentRoute: () => shellRoute,
  path: '/inbox',
  validateSearch: (search): { tab?: 'preferences' } => ({
    tab: search.tab === 'preferences' ? 'preferences' : undefined,
  }),
  component: lazyRouteComponent(() => import('../pages/inbox/inbox-page.tsx'), 'InboxPage'),
})

const hosts = createRoute({
  getParentRoute: () => shellRoute,
  path: '/hosts',
  component: lazyRouteComponent(() => import('../pages/hosts/hosts-page.tsx'), 'HostsPage'),
})

const host = createRoute({
  getParentRoute: () => shellRoute,
  path: '/hosts/$id',
  component: lazyRouteComponent(() => import('../pages/hosts/host-page.tsx'), 'HostPage'),
})

const plans = createRoute({
  getParentRoute: () => shellRoute,
  path: '/plans',
  validateSearch: (search): { q?: string } => ({ q: searchText(search.q) }),
  component: lazyRouteComponent(() => import('../pages/plans/plans-page.tsx'), 'PlansPage'),
})

const audit = createRoute({
  getParentRoute: () => shellRoute,
  path: '/audit',
  validateSearch: auditSearch,
  component: lazyRouteComponent(() => import('../pages/audit/instance-audit-page.tsx'), 'InstanceAuditPage'),
})

export const operatorRoutes = [docks, webhooks, webhook, inbox, hosts, host, plans, audit] as const
