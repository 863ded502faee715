import type { LinkedRepository } from '../github/index.ts'
import type { RunRow } from './run-store.ts'

/** Returns the Run's repository in the form that calls to GitHub take. */
export function repositoryOf(run: RunRow): LinkedRepository {
  return {
    installationId: run.installationId,
    providerInstallationId: run.providerInstallationId,
    organizationId: run.organizationId,
    workspaceId: run.workspaceId,
    repositoryId: run.repositoryId,
    fullName: run.repo,
    defaultBranch: run.baseBranch,
  }
}
