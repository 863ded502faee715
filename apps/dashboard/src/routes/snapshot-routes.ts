/** Snapshots of all Docks, and Templates. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { searchText } from './search-text.ts'
import { shellRoute } from './shell-route.ts'

const templates = createRoute({
  getParentRoute: () => shellRoute,
  path: '/templates',
  component: lazyRouteComponent(() => import('../pages/templates/templates-page.tsx'), 'TemplatesPage'),
})

const snapshots = createRoute({
  getParentRoute: () => shellRoute,
  path: '/snapshots',
  validateSearch: (search): { dock?: string } => ({ dock: searchText(search.dock) }),
  component: lazyRouteComponent(() => import('../pages/snapshots/snapshots-page.tsx'), 'SnapshotsPage'),
})

const snapshot = createRoute({
  getParentRoute: () => shellRoute,
  path: '/snapshots/$id',
  validateSearch: (search): { path?: string; file?: string } => ({
    path: searchText(search.path),
    file: searchText(search.file),
  }),
  component: lazyRouteComponent(() => import('../pages/snapshots/snapshot-page.tsx'), 'SnapshotPage'),
})

const diff = createRoute({
  getParentRoute: () => shellRoute,
  path: '/snapshots/$id/diff/$to',
  component: lazyRouteComponent(() => import('../pages/snapshots/diff-page.tsx'), 'DiffPage'),
})

export const snapshotRoutes = [templates, snapshots, snapshot, diff] as const
