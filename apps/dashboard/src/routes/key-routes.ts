/** Keys and connections, by kind. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { type KeyTab, keyTabs } from '../pages/keys/key-tabs.ts'
import { searchText } from './search-text.ts'
import { shellRoute } from './shell-route.ts'

const keys = createRoute({
  getParentRoute: () => shellRoute,
  path: '/keys',
  validateSearch: (search): { tab?: KeyTab; organization?: string } => ({
    tab: keyTabs.find((tab) => tab === search.tab),
    organization: searchText(search.organization),
  }),
  component: lazyRouteComponent(() => import('../pages/keys/keys-page.tsx'), 'KeysPage'),
})

export const keyRoutes = [keys] as const
