/** The parent of all pages that only a signed-in person sees. */
import { createRoute, redirect } from '@tanstack/react-router'
import { isClosed, isSignedOut } from '../api/client.ts'
import { meQuery } from '../api/queries.ts'
import { queryClient } from '../api/query-client.ts'
import { Shell } from '../pages/shell/shell.tsx'
import { rootRoute } from './root-route.ts'

/** Leads to the sign-in, and from there back to this page. A closed account is led to its own page. */
const requirePerson = async ({ location }: { location: { href: string } }): Promise<void> => {
  try {
    await queryClient.ensureQueryData(meQuery)
  } catch (error) {
    if (isClosed(error)) throw redirect({ to: '/account-closed' })
    if (!isSignedOut(error)) throw error
    throw redirect({ to: '/sign-in', search: location.href === '/' ? {} : { next: location.href } })
  }
}

export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  beforeLoad: requirePerson,
  component: Shell,
})
