/** A repository that is linked to a workspace: what every operation on GitHub takes. */

export type LinkedRepository = {
  /** The row of the installation. */
  installationId: string
  /** GitHub's number of the installation. */
  providerInstallationId: number
  organizationId: string
  workspaceId: string
  /** GitHub's number of the repository. It survives renames, so requests name the repository by it. */
  repositoryId: number
  /** `owner/name`, as last seen. */
  fullName: string
  defaultBranch: string
}
