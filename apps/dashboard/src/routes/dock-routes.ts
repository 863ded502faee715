/** The list of Docks, and the page of one Dock. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { type DockTab, dockTabs } from '../pages/dock/dock-tabs.ts'
import { DocksPage } from '../pages/docks/docks-page.tsx'
import { searchText } from './search-text.ts'
import { shellRoute } from './shell-route.ts'

const docks = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  validateSearch: (search): { q?: string; states?: string } => ({
    q: searchText(search.q),
    states: searchText(search.states),
  }),
  component: DocksPage,
})

const newDock = createRoute({
  getParentRoute: () => shellRoute,
  path: '/docks/new',
  validateSearch: (search): { from?: string; environment?: string } => ({
    from: searchText(search.from),
    environment: searchText(search.environment),
  }),
  component: lazyRouteComponent(() => import('../pages/docks/create/create-page.tsx'), 'CreatePage'),
})

const dock = createRoute({
  getParentRoute: () => shellRoute,
  path: '/docks/$id',
  validateSearch: (search): { tab?: DockTab; path?: string } => ({
    tab: dockTabs.find((tab) => tab === search.tab),
    path: searchText(search.path),
  }),
  component: lazyRouteComponent(() => import('../pages/dock/dock-page.tsx'), 'DockPage'),
})

export const dockRoutes = [docks, newDock, dock] as const
