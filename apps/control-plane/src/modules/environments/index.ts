/** Public interface of the environments module: versioned bundles of variables, secret files and repositories. */
export { openBundle } from './bundle-sealing.ts'
export {
  addRepository,
  removeFile,
  removeRepository,
  removeVariable,
  replaceSecrets,
  setFile,
  setVariable,
} from './change-contents.ts'
export { createEnvironment } from './create-environment.ts'
export { deleteEnvironment } from './delete-environment.ts'
export type { EnvironmentContext } from './environment-context.ts'
export { environmentSealedColumn, insertDefaultEnvironment } from './environment-store.ts'
export { cloneUrl, doorPathOf, type GitServers } from './git-servers.ts'
export {
  createEnvironmentsModule,
  type EnvironmentsModule,
  type PassedToDocks,
} from './module.ts'
export { readPinnedRepositories } from './pinned-repositories.ts'
export {
  listDescribedVersions,
  listEnvironments,
  listRepositories,
  listVersions,
  readEnvironment,
  revealSecrets,
} from './read-environments.ts'
export { updateEnvironment } from './update-environment.ts'
export { upgradeEnvironment } from './upgrade-environment.ts'
