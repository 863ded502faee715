/** What the pages of Docks read beside the Dock itself. */
import type { DockInfo } from '@dock/sdk'
import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'

/** A Dock as the list shows it: with its organization, its Environment's version, and who made it. */
export function listedDockQuery(id: string) {
  return queryOptions({
    queryKey: ['dock', 'listed', id],
    queryFn: async ({ signal }) =>
      (await api.call('searchDocks', { query: { q: id, limit: 1 }, signal })).docks[0] ?? null,
  })
}

/** Why the Dock stopped. `changedAt` is part of the key, so that each new state is asked about. */
export function lastStopQuery({ id, stateChangedAt }: Pick<DockInfo, 'id' | 'stateChangedAt'>) {
  return queryOptions({
    queryKey: ['dock', 'last-stop', id, stateChangedAt],
    queryFn: async ({ signal }) => (await api.call('readDockLastStop', { params: { id }, signal })).lastStop,
  })
}

export const templatesQuery = queryOptions({
  queryKey: ['template'],
  queryFn: ({ signal }) => api.call('listTemplates', { signal }),
})

export const imagesQuery = queryOptions({
  queryKey: ['image'],
  queryFn: ({ signal }) => api.call('listImages', { signal }),
})

const hostsOffer = {
  queryKey: ['largest-dock'],
  queryFn: ({ signal }: { signal: AbortSignal }) => api.call('readLargestDock', { signal }),
}
/** The most of each size that the hosts which are online can take; null if none is. */
export const largestDockQuery = queryOptions({ ...hostsOffer, select: ({ largest }) => largest })
/** The runtimes of the hosts which are online. */
export const runtimesQuery = queryOptions({ ...hostsOffer, select: ({ runtimes }) => runtimes })

export function timelineQuery(id: string) {
  return queryOptions({
    queryKey: ['dock', 'timeline', id],
    queryFn: ({ signal }) => api.call('readDockTimeline', { params: { id }, query: { limit: 50 }, signal }),
  })
}

export function seriesQuery(id: string, window: '1h' | '24h') {
  return queryOptions({
    queryKey: ['series', id, window],
    queryFn: ({ signal }) => api.call('readDockSeries', { params: { id }, query: { window }, signal }),
    // The service writes a row for each minute, and no live event.
    refetchInterval: 60_000,
  })
}

export function portsQuery(id: string) {
  return queryOptions({
    queryKey: ['port', id],
    queryFn: ({ signal }) => api.call('listPorts', { params: { id }, signal }),
  })
}
