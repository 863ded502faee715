/** What the audit log reads. Entries make no live event, so each visit reads them again. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { dayRange } from '../lib/day-range.ts'
import type { AuditSearch } from '../routes/audit-search.ts'
import { api } from './client.ts'

/** Entries in one page. The Docks of a page are looked up in one request, which takes as many ids. */
const pageSize = 50

const filterOf = ({ action, person, from, to }: AuditSearch) => ({
  ...{ action, actorId: person },
  ...dayRange(from, to),
})

/** Entries of an organization, or of the instance if it is null. */
export function auditQuery(organizationId: string | null, search: AuditSearch) {
  return infiniteQueryOptions({
    queryKey: ['audit', organizationId, search],
    queryFn: ({ signal, pageParam }) => {
      const query = { ...filterOf(search), limit: pageSize, cursor: pageParam }
      return organizationId === null
        ? api.call('listInstanceAudit', { query, signal })
        : api.call('listAudit', { params: { id: organizationId }, query, signal })
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    placeholderData: keepPreviousData,
    staleTime: 0,
  })
}

/** Returns where the entries of these filters are downloaded from. */
export function auditExportUrl(organizationId: string | null, search: AuditSearch): string {
  const query = filterOf(search)
  return organizationId === null
    ? api.urlOf('exportInstanceAudit', { query })
    : api.urlOf('exportAudit', { params: { id: organizationId }, query })
}

/** Which of these Docks exist, and may be seen. */
export function existingDocksQuery(ids: readonly string[]) {
  return queryOptions({
    queryKey: ['dock', 'existing', ids],
    queryFn: async ({ signal }) =>
      (await api.call('searchDocks', { query: { ids: ids.join(','), limit: pageSize }, signal })).docks.map(
        ({ id }) => id,
      ),
    enabled: ids.length > 0,
  })
}
