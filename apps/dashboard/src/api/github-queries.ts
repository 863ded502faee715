/** What the pages of Runs and of GitHub read. A key begins with the kind of live change that makes it old. */
import type { Run } from '@dock/sdk'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'

export type RunFilter = { workspaceId: string; state?: Run['state']; repo?: string }

/** Runs that a list shows before it is asked for more. */
export const runsPageSize = 100

/** The newest `limit` Runs of a workspace. */
export function runsQuery(filter: RunFilter | undefined, limit: number) {
  return queryOptions({
    queryKey: ['run', 'list', filter, limit],
    queryFn: ({ signal }) => api.call('listRuns', { query: { workspaceId: '', ...filter, limit }, signal }),
    enabled: filter !== undefined,
    placeholderData: keepPreviousData,
  })
}

export function runQuery(id: string) {
  return queryOptions({
    queryKey: ['run', 'one', id],
    queryFn: ({ signal }) => api.call('readRun', { params: { id }, query: {}, signal }),
  })
}

/** What a Run has cost. Each answer of a model is a live change of its Run. */
export function runCostQuery(id: string) {
  return queryOptions({
    queryKey: ['run', 'cost', id],
    queryFn: ({ signal }) => api.call('readRunCost', { params: { id }, query: {}, signal }),
  })
}

export function installationsQuery(workspaceId: string | undefined) {
  return queryOptions({
    queryKey: ['installation', 'list', workspaceId],
    queryFn: ({ signal }) =>
      api.call('listInstallations', { query: { workspaceId: workspaceId ?? '' }, signal }),
    enabled: workspaceId !== undefined,
  })
}

/** An installation with its settings. */
export function installationQuery(workspaceId: string | undefined, id: string) {
  return queryOptions({
    queryKey: ['installation', 'one', workspaceId, id],
    queryFn: async ({ signal }) => {
      const at = { params: { id }, query: { workspaceId: workspaceId ?? '' }, signal }
      const [installation, settings] = await Promise.all([
        api.call('readInstallation', at),
        api.call('readInstallationSettings', at),
      ])
      return { installation, settings }
    },
    enabled: workspaceId !== undefined,
  })
}

/** Which GitHub App the instance uses. For instance admins. */
export const githubAppQuery = queryOptions({
  queryKey: ['github-app'],
  queryFn: ({ signal }) => api.call('readGithubApp', { signal }),
})
