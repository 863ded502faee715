/** Webhooks, and the pages of the people who run the instance. */
import type { Lively } from '../lively-data.ts'
import { dialog, nowhere, type ShownDialog, type ShownPage } from './shown-page.ts'

const detailsOfFailed: ShownDialog['opener'] = (page) =>
  page
    .getByRole('row')
    .filter({ has: page.getByText('422', { exact: true }) })
    .getByRole('button', { name: /^Details/ })
    .first()

export function operators({ webhookId, goneWebhookId, hostId }: Lively): ShownPage[] {
  return [
    {
      ...{ name: 'webhooks', as: 'admin', path: '/webhooks', shows: 'Team chat' },
      dialogs: [dialog('webhooks-new', 'New webhook', 'Add webhook')],
    },
    { name: 'webhooks-none', as: 'founder', path: '/webhooks', shows: 'No webhooks yet' },
    { name: 'webhooks-newcomer', as: 'newcomer', path: '/webhooks', shows: 'You are in no organization' },
    {
      ...{ name: 'webhook', as: 'admin', path: `/webhooks/${webhookId}`, shows: 'dock.ready' },
      dialogs: [
        dialog('webhook-delete', 'Delete', 'Type Team chat'),
        dialog('webhook-delivery', detailsOfFailed, 'At most the first 1 KiB is kept'),
      ],
    },
    { name: 'webhook-gone', as: 'admin', path: `/webhooks/${goneWebhookId}`, shows: 'Enable again' },
    { name: 'webhook-missing', as: 'admin', path: `/webhooks/${nowhere}`, shows: 'There is no such webhook' },
    { name: 'hosts', as: 'admin', path: '/hosts', shows: 'online' },
    { name: 'host', as: 'admin', path: `/hosts/${hostId}`, shows: 'Warm pool' },
    { name: 'host-missing', as: 'admin', path: `/hosts/${nowhere}`, shows: 'request' },
    { name: 'hosts-member', as: 'member', path: '/hosts', shows: 'request' },
    { name: 'audit-instance', as: 'admin', path: '/audit', shows: 'created the Dock' },
    { name: 'plans', as: 'admin', path: '/plans', shows: 'Northwind Traders' },
  ]
}
