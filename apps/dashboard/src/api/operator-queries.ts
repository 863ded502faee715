/** What the pages of webhooks and the inbox read. A key begins with the kind of live change that makes it old. */
import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'

export function webhooksQuery(organizationId: string | undefined) {
  return queryOptions({
    queryKey: ['webhook', organizationId],
    queryFn: ({ signal }) =>
      api.call('listWebhookEndpoints', { query: { organizationId: organizationId ?? '' }, signal }),
    enabled: organizationId !== undefined,
  })
}

export function deliveriesQuery(organizationId: string, id: string) {
  return queryOptions({
    queryKey: ['delivery', organizationId, id],
    queryFn: ({ signal }) =>
      api.call('listDeliveryAttempts', { params: { id }, query: { organizationId }, signal }),
  })
}

export function inboxQuery(limit: number) {
  return queryOptions({
    queryKey: ['notification', 'list', limit],
    queryFn: ({ signal }) => api.call('listNotifications', { query: { limit }, signal }),
  })
}

export function preferencesQuery(organizationId: string) {
  return queryOptions({
    queryKey: ['notification', 'preferences', organizationId],
    queryFn: ({ signal }) => api.call('readNotificationPreferences', { query: { organizationId }, signal }),
  })
}
