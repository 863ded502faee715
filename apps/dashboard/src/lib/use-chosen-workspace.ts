import type { Organization } from '@dock/sdk'
import { useWorkspaces, type WorkspaceChoice } from '../api/use-workspaces.ts'
import { useCurrentOrganization } from './current-organization.ts'

/**
 * Returns the workspace that the address names, or else the first one of the chosen organization. `workspaceId` is what the
 * service is asked with: it says why a workspace of the address cannot be shown.
 */
export function useChosenWorkspace(asked: string | undefined): {
  workspaces: readonly WorkspaceChoice[]
  workspace: WorkspaceChoice | undefined
  workspaceId: string | undefined
  organization: Organization | undefined
  isAdmin: boolean
} {
  const workspaces = useWorkspaces()
  const { organizations, organization: current } = useCurrentOrganization()
  const workspace =
    asked === undefined
      ? workspaces.find(({ organizationId }) => organizationId === current?.id)
      : workspaces.find(({ id }) => id === asked)
  const organization = organizations.find(({ id }) => id === workspace?.organizationId)
  const scope = organization?.id ?? current?.id
  return {
    // The navigation chooses the organization, so the page has only a choice inside it.
    workspaces: workspaces.filter(({ organizationId }) => organizationId === scope),
    workspace,
    workspaceId: asked ?? workspace?.id,
    organization,
    isAdmin: organization !== undefined && organization.role !== 'member',
  }
}
