/** Runs, and the repositories of GitHub that start them. GitHub sends browsers back to two of these addresses. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { type RunState, runStates } from '../pages/runs/run-texts.ts'
import { searchText } from './search-text.ts'
import { shellRoute } from './shell-route.ts'

const runs = createRoute({
  getParentRoute: () => shellRoute,
  path: '/runs',
  validateSearch: (search): { workspace?: string; state?: RunState; repo?: string } => ({
    workspace: searchText(search.workspace),
    state: runStates.find((state) => state === search.state),
    repo: searchText(search.repo),
  }),
  component: lazyRouteComponent(() => import('../pages/runs/runs-page.tsx'), 'RunsPage'),
})

/** Comments of the App at GitHub lead here. */
const run = createRoute({
  getParentRoute: () => shellRoute,
  path: '/runs/$id',
  component: lazyRouteComponent(() => import('../pages/runs/run-page.tsx'), 'RunPage'),
})

const github = createRoute({
  getParentRoute: () => shellRoute,
  path: '/github',
  validateSearch: (search): { workspace?: string } => ({ workspace: searchText(search.workspace) }),
  component: lazyRouteComponent(() => import('../pages/github/github-page.tsx'), 'GithubPage'),
})

const installation = createRoute({
  getParentRoute: () => shellRoute,
  path: '/github/installations/$id',
  validateSearch: (search): { workspace?: string } => ({ workspace: searchText(search.workspace) }),
  component: lazyRouteComponent(() => import('../pages/github/installation-page.tsx'), 'InstallationPage'),
})

const appMade = createRoute({
  getParentRoute: () => shellRoute,
  path: '/github/app',
  validateSearch: (search): { code?: string; state?: string } => ({
    code: searchText(search.code),
    state: searchText(search.state),
  }),
  component: lazyRouteComponent(() => import('../pages/github/app-made-page.tsx'), 'AppMadePage'),
})

const linked = createRoute({
  getParentRoute: () => shellRoute,
  path: '/github/linked',
  validateSearch: (search): { code?: string; state?: string; error?: string } => ({
    code: searchText(search.code),
    state: searchText(search.state),
    error: searchText(search.error),
  }),
  component: lazyRouteComponent(() => import('../pages/github/linked-page.tsx'), 'LinkedPage'),
})

export const githubRoutes = [runs, run, github, installation, appMade, linked] as const
