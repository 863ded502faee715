/** The root of all routes. */
import { createRootRoute, Outlet } from '@tanstack/react-router'
import { NotFoundPage } from '../pages/not-found-page.tsx'

export const rootRoute = createRootRoute({ component: Outlet, notFoundComponent: NotFoundPage })
