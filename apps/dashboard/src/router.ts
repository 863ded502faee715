import { createRouter, parseSearchWith, stringifySearchWith } from '@tanstack/react-router'
import { FailedPage } from './pages/failed-page.tsx'
import { accountRoutes } from './routes/account-routes.ts'
import { dockRoutes } from './routes/dock-routes.ts'
import { environmentRoutes } from './routes/environment-routes.ts'
import { githubRoutes } from './routes/github-routes.ts'
import { keyRoutes } from './routes/key-routes.ts'
import { galleryRoutes, operatorRoutes } from './routes/operator-routes.ts'
import { organizationRoutes } from './routes/organization-routes.ts'
import { rootRoute } from './routes/root-route.ts'
import { shellRoute } from './routes/shell-route.ts'
import { signInRoutes } from './routes/sign-in-routes.ts'
import { snapshotRoutes } from './routes/snapshot-routes.ts'

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    ...galleryRoutes,
    ...signInRoutes,
    shellRoute.addChildren([
      ...dockRoutes,
      ...snapshotRoutes,
      ...organizationRoutes,
      ...environmentRoutes,
      ...keyRoutes,
      ...githubRoutes,
      ...accountRoutes,
      ...operatorRoutes,
    ]),
  ]),
  // Parameters are texts. Read as JSON, a code such as 12e34567 of another site would become a number, and be lost.
  parseSearch: parseSearchWith((text) => text),
  stringifySearch: stringifySearchWith(String),
  defaultErrorComponent: FailedPage,
  // Hovering over a link loads its code.
  defaultPreload: 'intent',
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
