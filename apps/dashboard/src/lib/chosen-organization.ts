import { useQuery } from '@tanstack/react-query'
import { organizationsQuery } from '../api/queries.ts'

const key = 'dock-organization'

/** Remembers the organization in this browser, for pages whose address names none. */
export function rememberOrganization(id: string): void {
  localStorage.setItem(key, id)
}

/** Returns the person's organizations and the one to show: `asked`, else the one shown last, else the first. */
export function useChosenOrganization(asked?: string) {
  const { data, error } = useQuery(organizationsQuery)
  const find = (id: string | null | undefined) => data?.find((each) => each.id === id)
  const chosen = find(asked) ?? find(localStorage.getItem(key)) ?? data?.[0]
  return { organizations: data, chosen, error }
}
