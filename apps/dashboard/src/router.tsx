import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { isSignedOut } from './api/client.ts'
import { meQuery } from './api/queries.ts'
import { queryClient } from './api/query-client.ts'
import { type DockTab, dockTabs } from './pages/dock/dock-tabs.ts'
import { DocksPage } from './pages/docks/docks-page.tsx'
import { NotFoundPage } from './pages/not-found-page.tsx'
import { Shell } from './pages/shell.tsx'
import { ForgotPasswordPage } from './pages/sign-in/forgot-password-page.tsx'
import { ResetPasswordPage } from './pages/sign-in/reset-password-page.tsx'
import { SignInPage } from './pages/sign-in/sign-in-page.tsx'
import { SignUpPage } from './pages/sign-in/sign-up-page.tsx'

/** Returns the text of a parameter of the address. */
const text = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined

/** Leads to the sign-in, and from there back to this page. */
const requirePerson = async ({ location }: { location: { href: string } }): Promise<void> => {
  try {
    await queryClient.ensureQueryData(meQuery)
  } catch (error) {
    if (!isSignedOut(error)) throw error
    throw redirect({ to: '/sign-in', search: location.href === '/' ? {} : { next: location.href } })
  }
}

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFoundPage })

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: (search): { next?: string } => ({ next: text(search.next) }),
  component: SignInPage,
})
const signUp = createRoute({
  getParentRoute: () => root,
  path: '/sign-up',
  validateSearch: (search): { next?: string } => ({ next: text(search.next) }),
  component: SignUpPage,
})
const forgot = createRoute({
  getParentRoute: () => root,
  path: '/forgot-password',
  component: ForgotPasswordPage,
})
const reset = createRoute({
  getParentRoute: () => root,
  path: '/reset-password',
  validateSearch: (search): { token?: string } => ({ token: text(search.token) }),
  component: ResetPasswordPage,
})
const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitations/$token',
  component: lazyRouteComponent(() => import('./pages/sign-in/invitation-page.tsx'), 'InvitationPage'),
})

const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  beforeLoad: requirePerson,
  component: Shell,
})
const docks = createRoute({
  getParentRoute: () => shell,
  path: '/',
  validateSearch: (search): { q?: string; states?: string } => ({
    q: text(search.q),
    states: text(search.states),
  }),
  component: DocksPage,
})

const dock = createRoute({
  getParentRoute: () => shell,
  path: '/docks/$id',
  validateSearch: (search): { tab?: DockTab } => ({ tab: dockTabs.find((tab) => tab === search.tab) }),
  component: lazyRouteComponent(() => import('./pages/dock/dock-page.tsx'), 'DockPage'),
})

export const router = createRouter({
  routeTree: root.addChildren([signIn, signUp, forgot, reset, invitation, shell.addChildren([docks, dock])]),
  // Hovering over a link loads its code.
  defaultPreload: 'intent',
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
