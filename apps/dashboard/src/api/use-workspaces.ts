import { useQueries, useQuery } from '@tanstack/react-query'
import { organizationsQuery, workspacesQuery } from './queries.ts'

export type WorkspaceChoice = { id: string; organizationId: string; label: string }

/** Returns the workspaces of all organizations of the person. */
export function useWorkspaces(): WorkspaceChoice[] {
  const organizations = useQuery(organizationsQuery).data ?? []
  return useQueries({
    queries: organizations.map(({ id }) => workspacesQuery(id)),
    combine: (lists) =>
      lists.flatMap(({ data }, at) =>
        (data ?? []).map(({ id, name }) => ({
          id,
          organizationId: organizations[at]!.id,
          label: name,
        })),
      ),
  })
}
