/** Keys and connections, by kind. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { type KeyTab, keyTabs } from '../pages/keys/key-tabs.ts'
import { shellRoute } from './shell-route.ts'

const keys = createRoute({
  getParentRoute: () => shellRoute,
  path: '/keys',
  validateSearch: (search): { tab?: KeyTab } => ({ tab: keyTabs.find((tab) => tab === search.tab) }),
  component: lazyRouteComponent(() => import('../pages/keys/keys-page.tsx'), 'KeysPage'),
})

export const keyRoutes = [keys] as const
