/** What the pages of webhooks, the inbox, hosts and plans read. A key begins with the kind of change that makes it old. */
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

export const hostsQuery = queryOptions({
  queryKey: ['host', 'list'],
  queryFn: ({ signal }) => api.call('listHosts', { signal }),
})

export function hostQuery(id: string) {
  return queryOptions({
    queryKey: ['host', 'one', id],
    queryFn: async ({ signal }) => {
      const [host, versions] = await Promise.all([
        api.call('readHost', { params: { id }, signal }),
        api.call('readHostVersions', { params: { id }, signal }),
      ])
      return { ...host, ...versions }
    },
    // Heartbeats and the warm pool are no live events.
    refetchInterval: 15_000,
  })
}

export const quarantineQuery = queryOptions({
  queryKey: ['host', 'quarantine'],
  queryFn: ({ signal }) => api.call('listQuarantine', { signal }),
  refetchInterval: 15_000,
})

export function plansQuery(q: string | undefined, limit: number) {
  return queryOptions({
    queryKey: ['organization', 'plans', q, limit],
    queryFn: ({ signal }) => api.call('listPlannedOrganizations', { query: { q, limit }, signal }),
  })
}
