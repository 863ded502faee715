const loopbackNames = ['localhost', '127.0.0.1', '[::1]']

/**
 * Returns the origins whose pages may sign people in at `url`. A server that is reached at a loopback address has all of
 * its names, because people open `localhost` where the server says `127.0.0.1`.
 */
export function trustedOriginsOf(url: string): string[] {
  const { hostname, origin, port, protocol } = new URL(url)
  if (!loopbackNames.includes(hostname)) return [origin]
  return loopbackNames.map((name) => `${protocol}//${name}${port === '' ? '' : `:${port}`}`)
}
