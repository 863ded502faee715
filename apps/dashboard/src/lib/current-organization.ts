/** The organization whose Docks, keys and settings the pages show. All tabs of this browser share the choice. */
import type { Organization } from '@dock/sdk'
import { useQuery } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { organizationsQuery } from '../api/queries.ts'

const key = 'dock-organization'
const listeners = new Set<() => void>()

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  addEventListener('storage', listener)
  return () => {
    listeners.delete(listener)
    removeEventListener('storage', listener)
  }
}

/** Chooses an organization on all pages. */
export function chooseOrganization(id: string): void {
  localStorage.setItem(key, id)
  for (const listener of listeners) listener()
}

/** Returns all organizations of the person, and the chosen one: the first, if none was chosen. */
export function useCurrentOrganization(): {
  organizations: readonly Organization[]
  organization: Organization | undefined
  /** True if the person is in no organization. False while the list is read. */
  hasNone: boolean
  error: unknown
} {
  const { data = [], error, isSuccess } = useQuery(organizationsQuery)
  const chosen = useSyncExternalStore(subscribe, () => localStorage.getItem(key))
  const organization = data.find(({ id }) => id === chosen) ?? data[0]
  return { organizations: data, organization, hasNone: isSuccess && data.length === 0, error }
}
