/** What the pages about people, Environments and settings read. A key begins with the kind of live change that makes it old. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, readAuth } from './client.ts'

/** Figures that change without a live event are read again at this pace while they are shown. */
const figuresEveryMs = 60_000
/** What other programs change without a live event, such as the last use of a key, is read again when a page opens. */
const readAnew = { staleTime: 0 } as const

export function organizationQuery(id: string) {
  return queryOptions({
    queryKey: ['organization', 'one', id],
    queryFn: ({ signal }) => api.call('readOrganization', { params: { id }, signal }),
  })
}

export function membersQuery(id: string) {
  return queryOptions({
    queryKey: ['organization', 'members', id],
    queryFn: ({ signal }) => api.call('listNamedMembers', { params: { id }, signal }),
  })
}

export function invitationsQuery(id: string) {
  return queryOptions({
    queryKey: ['invitation', 'sent', id],
    queryFn: ({ signal }) => api.call('listInvitations', { params: { id }, signal }),
  })
}

export const ownInvitationsQuery = queryOptions({
  queryKey: ['invitation', 'own'],
  queryFn: ({ signal }) => api.call('listOwnInvitations', { signal }),
})

export function limitsQuery(id: string) {
  return queryOptions({
    queryKey: ['organization', 'limits', id],
    queryFn: ({ signal }) => api.call('readOrganizationLimits', { params: { id }, signal }),
    refetchInterval: figuresEveryMs,
    ...readAnew,
  })
}

export function usageQuery(id: string, month: string) {
  return queryOptions({
    queryKey: ['organization', 'usage', id, month],
    queryFn: ({ signal }) => api.call('readOrganizationUsage', { params: { id }, query: { month }, signal }),
    refetchInterval: figuresEveryMs,
    ...readAnew,
  })
}

export function retentionQuery(organizationId: string) {
  return queryOptions({
    queryKey: ['organization', 'retention', organizationId],
    queryFn: ({ signal }) => api.call('readRetention', { query: { organizationId }, signal }),
    ...readAnew,
  })
}

export function environmentsQuery(organizationId: string) {
  return queryOptions({
    queryKey: ['environment', 'list', organizationId],
    queryFn: ({ signal }) => api.call('listEnvironments', { query: { organizationId }, signal }),
  })
}

export function environmentQuery(ref: string) {
  return queryOptions({
    queryKey: ['environment', 'one', ref],
    queryFn: ({ signal }) => api.call('readEnvironment', { params: { ref }, signal }),
  })
}

export function versionsQuery(ref: string) {
  return infiniteQueryOptions({
    queryKey: ['environment', 'versions', ref],
    queryFn: ({ signal, pageParam }) =>
      api.call('listDescribedVersions', {
        params: { ref },
        query: pageParam === null ? {} : { before: pageParam },
        signal,
      }),
    initialPageParam: null as number | null,
    getNextPageParam: ({ nextBefore }) => nextBefore,
  })
}

/** Docks of an Environment, newest first, up to 200. */
export function environmentDocksQuery(environmentId: string) {
  return queryOptions({
    queryKey: ['dock', 'environment', environmentId],
    queryFn: ({ signal }) => api.call('searchDocks', { query: { environmentId, limit: 200 }, signal }),
  })
}

export const apiKeysQuery = queryOptions({
  queryKey: ['api-key'],
  queryFn: ({ signal }) => api.call('listApiKeys', { signal }),
  ...readAnew,
})

export const sshKeysQuery = queryOptions({
  queryKey: ['ssh-key'],
  queryFn: ({ signal }) => api.call('listSshKeys', { signal }),
  ...readAnew,
})

/** Which SSH keys are proved. */
export const sshKeyProofsQuery = queryOptions({
  queryKey: ['ssh-key', 'proofs'],
  queryFn: ({ signal }) => api.call('listSshKeyProofs', { signal }),
  ...readAnew,
})

export function providerKeysQuery(organizationId: string) {
  return queryOptions({
    queryKey: ['provider-key', organizationId],
    queryFn: ({ signal }) => api.call('listProviderKeys', { query: { organizationId }, signal }),
    ...readAnew,
  })
}

export const connectionsQuery = queryOptions({
  queryKey: ['connection'],
  queryFn: async ({ signal }) => (await api.call('listConnections', { signal })).connections,
  ...readAnew,
})

export const assistantQuery = queryOptions({
  queryKey: ['assistant'],
  queryFn: ({ signal }) => api.call('readAssistantConnection', { signal }),
  ...readAnew,
})

export const profileQuery = queryOptions({
  queryKey: ['profile'],
  queryFn: ({ signal }) => api.call('readProfile', { signal }),
  ...readAnew,
})

export type Session = {
  id: string
  token: string
  createdAt: string
  updatedAt: string
  expiresAt: string
  ipAddress: string | null
  userAgent: string | null
  isCurrent: boolean
}

/** Where the person is signed in, newest first. */
export const sessionsQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }): Promise<Session[]> => {
    const [all, current] = await Promise.all([
      readAuth<Omit<Session, 'isCurrent'>[]>('/list-sessions', signal),
      readAuth<{ session: { id: string } } | null>('/get-session', signal),
    ])
    return all
      .map((session) => ({ ...session, isCurrent: session.id === current?.session.id }))
      .sort((a, b) => Number(b.isCurrent) - Number(a.isCurrent) || (a.updatedAt < b.updatedAt ? 1 : -1))
  },
  ...readAnew,
  // The list has tokens of sessions, so it is not kept longer than it is shown.
  gcTime: 0,
})
