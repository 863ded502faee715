/** What a person may do in a repository, as the permission API says now. */
import * as z from 'zod'
import type { RepositoryCalls } from './repository-calls.ts'

export type Permission = 'admin' | 'write' | 'read'

const answer = z.object({
  permission: z.string(),
  user: z.object({ id: z.number(), login: z.string(), type: z.string().optional() }).nullish(),
})
const known: Readonly<Record<string, Permission>> = { admin: 'admin', write: 'write', read: 'read' }

/**
 * Returns the permission, or null for none. GitHub reports `maintain` as write and `triage` as read. Also returns null if
 * the login meanwhile belongs to another account than `id`, and for bots.
 */
export async function readPermission(
  calls: RepositoryCalls,
  { id, login }: { id: number | null; login: string },
): Promise<Permission | null> {
  const path = `/collaborators/${encodeURIComponent(login)}/permission`
  const found = await calls.find({ path }, answer)
  if (!found?.user || (id !== null && found.user.id !== id)) return null
  if (found.user.type === 'Bot') return null
  return known[found.permission] ?? null
}

/** True if a permission lets a person start Runs. */
export function mayStartRuns(permission: Permission | null): boolean {
  return permission === 'admin' || permission === 'write'
}
