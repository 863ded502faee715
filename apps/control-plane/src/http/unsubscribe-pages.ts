/**
 * The pages behind the unsubscribe links in mails. They are outside the contract, because browsers and mailbox providers
 * request them. Only POST changes anything: mailbox providers fetch links to check them.
 */
import type { Hono } from 'hono'
import { escapeHtml } from '../mail/index.ts'
import type { HttpEnvironment } from './request-context.ts'

export type UnsubscribePagesOptions = {
  /** The instance as mails name it. */
  instanceName: string
  unsubscribing: {
    occasionOf(token: string): string | null
    unsubscribe(token: string): Promise<string | null>
  }
}

const style = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{display:grid;place-content:center;min-height:90vh;margin:0;padding:1.5rem}
main{max-width:32rem}
h1{font-size:1.4rem;margin:0 0 .5rem}
p{margin:0 0 1rem}
button{font:inherit;font-weight:600;padding:.75rem 1.25rem;border:0;border-radius:.5rem;background:#1d4ed8;color:#fff;cursor:pointer}
button:focus-visible{outline:3px solid #93c5fd;outline-offset:2px}`

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
}

const page = (status: number, title: string, text: string, button?: string): Response =>
  new Response(
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(text)}</p>
${button === undefined ? '' : `<form method="post"><button>${escapeHtml(button)}</button></form>`}
</main>
</body>
</html>
`,
    { status, headers },
  )

const path = '/mail/unsubscribe/:token'

export function addUnsubscribePages(app: Hono<HttpEnvironment>, options: UnsubscribePagesOptions): void {
  const { instanceName, unsubscribing } = options
  const notValid = (): Response =>
    page(404, 'This link is not valid', 'Copy the whole link from the mail and open it again.')

  app.get(path, (context) => {
    context.set('route', path)
    const occasion = unsubscribing.occasionOf(context.req.param('token'))
    if (occasion === null) return notValid()
    return page(
      200,
      'Send no more of these mails?',
      `Dock on ${instanceName} mails you when ${occasion}. Your inbox in Dock keeps showing these alerts.`,
      'Send no more of these mails',
    )
  })

  app.post(path, async (context) => {
    context.set('route', path)
    const occasion = await unsubscribing.unsubscribe(context.req.param('token'))
    if (occasion === null) return notValid()
    return page(
      200,
      'Done',
      `Dock on ${instanceName} no longer mails you when ${occasion}. You can turn these mails on again in your notification settings.`,
    )
  })
}
