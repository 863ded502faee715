import { createRouter } from '@tanstack/react-router'
import { dockRoutes } from './routes/dock-routes.ts'
import { rootRoute } from './routes/root-route.ts'
import { shellRoute } from './routes/shell-route.ts'
import { signInRoutes } from './routes/sign-in-routes.ts'
import { snapshotRoutes } from './routes/snapshot-routes.ts'

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    ...signInRoutes,
    shellRoute.addChildren([...dockRoutes, ...snapshotRoutes]),
  ]),
  // Hovering over a link loads its code.
  defaultPreload: 'intent',
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
