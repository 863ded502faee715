/** The seam through which a Dock's repositories come from its Environment. */

/** A boot of a Dock on a host. */
export type BootedDock = { dockId: string; hostId: string; generation: number }

/** One to be cloned, into its folder below the work folder. */
export type RepositoryToClone = {
  id: string
  name: string
  url: string
  doorPath: string
  folder: string
  branch: string | null
  setupScript: string | null
}

/** Null for a Dock that gets none in this boot. */
export type PassedRepositories = (dock: BootedDock) => Promise<{
  organizationId: string
  repositories: readonly RepositoryToClone[]
} | null>
