/** Interface through which the Docks module reads the repositories of a Dock's Environment. */

/** One boot of a Dock on a host. */
export type BootedDock = { dockId: string; hostId: string; generation: number }

/** A repository to clone into `folder`, relative to the Dock's work folder. */
export type RepositoryToClone = {
  id: string
  name: string
  url: string
  doorPath: string
  folder: string
  branch: string | null
  setupScript: string | null
}

/** Returns null if the Dock gets no repositories in this boot. */
export type ListRepositoriesToClone = (dock: BootedDock) => Promise<{
  organizationId: string
  repositories: readonly RepositoryToClone[]
} | null>
