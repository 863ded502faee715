/**
 * The pages behind the unsubscribe links in mails. They are outside the contract, because browsers and mailbox providers
 * request them. Only POST changes anything: mailbox providers fetch links to check them.
 */
import type { Hono } from 'hono'
import { html, htmlPage } from './html-page.ts'
import type { HttpEnvironment } from './request-context.ts'

export type UnsubscribePagesOptions = {
  /** The instance as mails name it. */
  instanceName: string
  unsubscribing: {
    occasionOf(token: string): string | null
    unsubscribe(token: string): Promise<string | null>
  }
}

const page = (status: number, title: string, text: string, button?: string): Response =>
  htmlPage(
    status,
    title,
    html`<p>${text}</p>${button !== undefined && html`<form method="post"><button>${button}</button></form>`}`,
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
