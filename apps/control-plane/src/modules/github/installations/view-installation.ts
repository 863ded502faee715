import type { Installation } from '@dock/contract'
import type { InstallationRow } from './installation-store.ts'

/** Returns an installation as the API shows it. */
export function viewInstallation(row: InstallationRow): Installation {
  return {
    id: row.id,
    installationId: row.provider_installation_id,
    workspaceId: row.workspace_id,
    createdBy: row.created_by,
    repos: row.repos,
    agent: row.agent,
    testCommand: row.test_command,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}
