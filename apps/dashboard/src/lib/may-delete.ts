/** Who may delete a Dock. The service has the same rule. */
import type { ListedDock } from '@dock/sdk'
import { type Role, reaches } from './roles.ts'

type Owned = Pick<ListedDock, 'createdBy' | 'organizationId'>
/** A person with their role in each organization. */
export type Person = { id: string | undefined; roleIn: (organizationId: string) => Role | undefined }

/** True if the service lets the person delete the Dock: its creator, and admins. */
export function mayDelete({ createdBy, organizationId }: Owned, { id, roleIn }: Person): boolean {
  return (id !== undefined && createdBy?.id === id) || reaches(roleIn(organizationId), 'admin')
}
