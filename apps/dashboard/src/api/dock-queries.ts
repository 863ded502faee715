/** What the pages of Docks read beside the Dock itself. */
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

export const templatesQuery = queryOptions({
  queryKey: ['template'],
  queryFn: ({ signal }) => api.call('listTemplates', { signal }),
})

export const imagesQuery = queryOptions({
  queryKey: ['image'],
  queryFn: ({ signal }) => api.call('listImages', { signal }),
})
