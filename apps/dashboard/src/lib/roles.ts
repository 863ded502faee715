import type { Organization } from '@dock/sdk'
import { roles } from '@dock/sdk/dashboard-rules'

export type Role = Organization['role']

export const roleNames: Record<Role, string> = { member: 'Member', admin: 'Admin', owner: 'Owner' }

export const roleTexts: Record<Role, string> = {
  member: 'uses Docks, Templates and Environments',
  admin: 'also manages people, workspaces, Environments and keys',
  owner: 'also manages owners and retention, and may delete the organization',
}

/** True if the role may do what `lowest` may do. */
export function reaches(role: Role | undefined, lowest: Role): boolean {
  return role !== undefined && roles.indexOf(role) >= roles.indexOf(lowest)
}
