/** Pages for people who are not signed in. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from './root-route.ts'
import { searchText } from './search-text.ts'

const signIn = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: (search): { next?: string } => ({ next: searchText(search.next) }),
  component: lazyRouteComponent(() => import('../pages/sign-in/sign-in-page.tsx'), 'SignInPage'),
})
const signUp = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-up',
  validateSearch: (search): { next?: string } => ({ next: searchText(search.next) }),
  component: lazyRouteComponent(() => import('../pages/sign-in/sign-up-page.tsx'), 'SignUpPage'),
})
const forgot = createRoute({
  getParentRoute: () => rootRoute,
  path: '/forgot-password',
  component: lazyRouteComponent(
    () => import('../pages/sign-in/forgot-password-page.tsx'),
    'ForgotPasswordPage',
  ),
})
const reset = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reset-password',
  validateSearch: (search): { token?: string } => ({ token: searchText(search.token) }),
  component: lazyRouteComponent(
    () => import('../pages/sign-in/reset-password-page.tsx'),
    'ResetPasswordPage',
  ),
})
const invitation = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invitations/$token',
  component: lazyRouteComponent(() => import('../pages/sign-in/invitation-page.tsx'), 'InvitationPage'),
})
const closed = createRoute({
  getParentRoute: () => rootRoute,
  path: '/account-closed',
  component: lazyRouteComponent(() => import('../pages/account/closed-page.tsx'), 'ClosedPage'),
})

export const signInRoutes = [signIn, signUp, forgot, reset, invitation, closed] as const
