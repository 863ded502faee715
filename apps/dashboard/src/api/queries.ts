/** What pages read. A key begins with the kind of live change that makes it old. */

import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => api.call('readMe', { signal }),
})

export const configQuery = queryOptions({
  queryKey: ['config'],
  queryFn: ({ signal }) => api.call('readConfig', { signal }),
})

export const organizationsQuery = queryOptions({
  queryKey: ['organization', 'list'],
  queryFn: ({ signal }) => api.call('listOrganizations', { signal }),
})

/** How many notifications are unread. */
export const unreadQuery = queryOptions({
  queryKey: ['notification', 'unread'],
  queryFn: async ({ signal }) =>
    (await api.call('listNotifications', { query: { limit: 1 }, signal })).unreadCount,
})

export function workspacesQuery(orgId: string) {
  return queryOptions({
    queryKey: ['workspace', orgId],
    queryFn: ({ signal }) => api.call('listWorkspaces', { params: { orgId }, signal }),
  })
}

/** The newest Docks of an organization whose name or id has the text. */
export function foundDocksQuery(organizationId: string | undefined, q: string | undefined, limit: number) {
  return queryOptions({
    queryKey: ['dock', 'found', organizationId, q, limit],
    queryFn: async ({ signal }) =>
      (await api.call('searchDocks', { query: { organizationId, q, limit }, signal })).docks,
  })
}

export function dockQuery(id: string) {
  return queryOptions({
    queryKey: ['dock', 'one', id],
    queryFn: ({ signal }) => api.call('readDock', { params: { id }, signal }),
  })
}
