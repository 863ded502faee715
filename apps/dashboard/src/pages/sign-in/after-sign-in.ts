/**
 * Returns the page to open after the sign-in: a path of this site, or the start page. An address of another site is never
 * followed.
 */
export function afterSignIn(next: string | undefined): string {
  if (!next?.startsWith('/') || /^\/[/\\]/.test(next)) return '/'
  const target = new URL(next, location.origin)
  return target.origin === location.origin ? `${target.pathname}${target.search}${target.hash}` : '/'
}
