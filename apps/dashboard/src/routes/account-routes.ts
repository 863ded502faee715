/** The person's own account. */
import { createRoute } from '@tanstack/react-router'
import { pagePart } from './page-part.ts'
import { shellRoute } from './shell-route.ts'

const account = createRoute({
  getParentRoute: () => shellRoute,
  path: '/account',
  component: pagePart(() => import('../pages/account/account-page.tsx'), 'AccountPage'),
})

export const accountRoutes = [account] as const
