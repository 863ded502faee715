import { pick } from '../docks/pick.ts'
import { findOrganization, organizationFlag } from '../docks/workspaces.ts'
import { formatAge } from '../output/formats.ts'
import type { Command } from '../program/command.ts'
import type { Context } from '../program/context.ts'
import { exitCodes } from '../program/exit-codes.ts'
import type { Input } from '../program/input.ts'
import { webAddress } from '../settings/open-page.ts'

const listAll = async (context: Context, input: Input) => {
  const client = await context.client()
  const { id: organizationId } = await findOrganization(client, input.text('org'))
  const query = { organizationId }
  return { client, query, endpoints: await client.call('listWebhookEndpoints', { query }) }
}

const list: Command = {
  path: ['webhook', 'ls'],
  summary: 'List webhook endpoints',
  flags: [organizationFlag],
  async run(context, input) {
    const { endpoints } = await listAll(context, input)
    context.out.list(
      endpoints,
      {
        NAME: (each) => each.name,
        ADDRESS: (each) => each.url,
        EVENTS: (each) => each.events.join(' '),
        STATE: (each) => (each.disabled ? 'disabled' : 'enabled'),
        ID: (each) => each.id,
      },
      { empty: 'There is no webhook endpoint.', text: [1, 2] },
    )
  },
}

const deliveries: Command = {
  path: ['webhook', 'deliveries'],
  summary: 'List what was sent to a webhook endpoint',
  args: [{ name: 'WEBHOOK' }],
  flags: [organizationFlag],
  async run(context, input) {
    const { client, query, endpoints } = await listAll(context, input)
    const { id } = pick('webhook', endpoints, input.arg('WEBHOOK'), ({ name, url }) => [name, url])
    const all = await client.call('listDeliveryAttempts', { params: { id }, query })
    context.out.list(
      all,
      {
        EVENT: (each) => each.event,
        STATUS: (each) => String(each.status ?? '–'),
        ERROR: (each) => each.error ?? '',
        AGE: (each) => formatAge(each.createdAt),
        ID: (each) => each.id,
      },
      { empty: 'Nothing was sent yet.', text: [2] },
    )
  },
}

/** API keys may not call these routes, so the command leads to the page. */
const sessionOnly = (verb: string, summary: string): Command => ({
  path: ['webhook', verb],
  summary: `${summary}: prints the page of the dashboard, because API keys may not do this`,
  async run(context) {
    const { appUrl } = await (await context.client()).call('readConfig')
    const page = webAddress(`${appUrl.replace(/\/+$/, '')}/webhooks`)
    context.out.result({ sessionRequired: true, url: page }, () => {
      context.out.note('API keys may not do this. Sign in with a browser:')
      context.out.line(page)
    })
    return exitCodes.signIn
  },
})

export const webhookCommands: readonly Command[] = [
  list,
  deliveries,
  sessionOnly('create', 'Add a webhook endpoint'),
  sessionOnly('test', 'Send a test event'),
  sessionOnly('rm', 'Remove a webhook endpoint'),
]
