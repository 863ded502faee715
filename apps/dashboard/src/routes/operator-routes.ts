/** The operator's side: the gallery of components in development builds, and addresses that moved. */
import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { rootRoute } from './root-route.ts'
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

export const operatorRoutes = [docks] as const
