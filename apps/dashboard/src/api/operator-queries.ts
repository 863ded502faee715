/** What the pages of webhooks, the inbox, hosts and plans read. A key begins with the kind of change that makes it old. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
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

/** What an attempt sent and what came back. Nothing changes it. */
export function deliveryQuery(organizationId: string, id: string, deliveryId: string) {
  return queryOptions({
    queryKey: ['attempt', organizationId, id, deliveryId],
    queryFn: ({ signal }) =>
      api.call('readDelivery', { params: { id, deliveryId }, query: { organizationId }, signal }),
  })
}

const pageSize = 50

export const inboxQuery = infiniteQueryOptions({
  queryKey: ['notification', 'list'],
  queryFn: ({ signal, pageParam }) =>
    api.call('listNotifications', { query: { limit: pageSize, cursor: pageParam }, signal }),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
})

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
  })
}

export const quarantineQuery = queryOptions({
  queryKey: ['quarantine'],
  queryFn: ({ signal }) => api.call('listQuarantine', { signal }),
})

/** Organizations with their plans. What a month has cost changes without a live event, so each visit reads it again. */
export function plansQuery(q: string | undefined) {
  return infiniteQueryOptions({
    queryKey: ['plan', q],
    queryFn: ({ signal, pageParam }) =>
      api.call('listPlannedOrganizations', { query: { q, limit: pageSize, cursor: pageParam }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    staleTime: 0,
  })
}

/** People who sign up make no live event for instance admins, so each visit reads them again. */
export const unverifiedPeopleQuery = queryOptions({
  queryKey: ['unverified'],
  queryFn: ({ signal }) => api.call('listUnverifiedPeople', { signal }),
  staleTime: 0,
})
