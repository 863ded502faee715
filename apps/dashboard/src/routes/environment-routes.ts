/** The list of Environments, and the page of one Environment. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { type EnvironmentTab, environmentTabs } from '../pages/environments/environment-tabs.ts'
import { shellRoute } from './shell-route.ts'

const environments = createRoute({
  getParentRoute: () => shellRoute,
  path: '/environments',
  component: lazyRouteComponent(
    () => import('../pages/environments/environments-page.tsx'),
    'EnvironmentsPage',
  ),
})

const environment = createRoute({
  getParentRoute: () => shellRoute,
  path: '/environments/$id',
  validateSearch: (search): { tab?: EnvironmentTab } => ({
    tab: environmentTabs.find((tab) => tab === search.tab),
  }),
  component: lazyRouteComponent(
    () => import('../pages/environments/environment-page.tsx'),
    'EnvironmentPage',
  ),
})

export const environmentRoutes = [environments, environment] as const
