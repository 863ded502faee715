import { appPaths } from '@dock/contract'
import { expect, it, vi } from 'vitest'

// Modules of pages read these when they are loaded.
vi.stubGlobal('location', new URL('https://dock.example.test'))
vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => undefined }))
const { router } = await import('../router.ts')

const id = '0198a000-0000-7000-8000-000000000000'
const token = 'A'.repeat(43)
const links = {
  docks: appPaths.docks(),
  dock: appPaths.dock(id),
  organizations: appPaths.organizations(),
  invitation: appPaths.invitation(token),
  resetPassword: appPaths.resetPassword(token),
  signIn: appPaths.signIn('/api/auth/verify-email?token=x'),
} satisfies Record<keyof typeof appPaths, string>

it.each(Object.entries(links))('the link %s of a mail leads to a page', (_, link) => {
  const { pathname } = new URL(link, 'https://dock.example.test')
  const [, routeParams, foundRoute] = router.getMatchedRoutes(pathname)
  expect(foundRoute?.id).toBeDefined()
  expect(Object.values(routeParams).every((value) => value === id || value === token)).toBe(true)
})

it('an address that no page has is found to be none', () => {
  expect(router.getMatchedRoutes('/no/such/page')[2]).toBeUndefined()
})

it('the tokens of links reach their pages', () => {
  const searchOf = (link: string) => {
    const { pathname, searchParams } = new URL(link, 'https://dock.example.test')
    const [, , foundRoute] = router.getMatchedRoutes(pathname)
    const validate = foundRoute?.options.validateSearch as (search: object) => object
    return validate(Object.fromEntries(searchParams))
  }
  expect(searchOf(links.resetPassword)).toEqual({ token })
  expect(searchOf(links.signIn)).toEqual({ next: '/api/auth/verify-email?token=x' })
})
