/**
 * Returns the page to open after the sign-in: a path of this site, or the start page. An address of another site is never
 * followed.
 */
export function afterSignIn(next: string | undefined): string {
  if (!next?.startsWith('/') || !URL.canParse(next, location.origin)) return '/'
  const { origin, pathname, search, hash } = new URL(next, location.origin)
  // `/.//host` is a path of this site, but its pathname is `//host`. Browsers read that as the address of another site.
  return origin === location.origin && !pathname.startsWith('//') ? `${pathname}${search}${hash}` : '/'
}
