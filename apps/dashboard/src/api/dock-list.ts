/** The list of Docks. It may be long, so a change reads again what has changed, and not the list. */

import type { DockSearchPage } from '@dock/sdk'
import { searchedIdsMax } from '@dock/sdk/dashboard-rules'
import {
  type InfiniteData,
  infiniteQueryOptions,
  keepPreviousData,
  type QueryClient,
} from '@tanstack/react-query'
import { patchPages } from '../lib/patch-pages.ts'
import { api } from './client.ts'

export type DockFilter = {
  q?: string | undefined
  states?: string | undefined
  organizationId?: string | undefined
}

/** Docks in one page of the list. */
const pageSize = 100
export function dockListQuery(filter: DockFilter) {
  return infiniteQueryOptions({
    queryKey: ['dock-list', filter],
    queryFn: ({ signal, pageParam }) =>
      api.call('searchDocks', { query: { ...filter, limit: pageSize, cursor: pageParam }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  })
}

type List = InfiniteData<DockSearchPage>

/** Brings the lists up to date with changes of these Docks. */
export async function refreshDockLists(client: QueryClient, ids: ReadonlySet<string>): Promise<void> {
  const lists = client.getQueryCache().findAll({ queryKey: ['dock-list'] })
  const refresh = async (query: (typeof lists)[number]): Promise<void> => {
    const { queryKey } = query
    /** A page that is being read would replace what is written meanwhile. */
    const settled = async (): Promise<void> => {
      while (query.state.fetchStatus === 'fetching') await query.promise?.catch(() => undefined)
    }
    // Inactive lists, and those with many changes, are read again whole.
    if (!query.isActive() || ids.size > searchedIdsMax)
      return client.invalidateQueries({ queryKey, exact: true })
    await settled()
    const found = await api.call('searchDocks', {
      query: { ...(queryKey[1] as DockFilter), ids: [...ids].join(','), limit: searchedIdsMax },
    })
    await settled()
    client.setQueryData<List>(
      queryKey,
      (list) => list && { ...list, pages: patchPages(list.pages, ids, found.docks) },
    )
  }
  await Promise.all(
    lists.map((query) =>
      refresh(query).catch(() => client.invalidateQueries({ queryKey: query.queryKey, exact: true })),
    ),
  )
}
