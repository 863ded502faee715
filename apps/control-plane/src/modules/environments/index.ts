/** Public interface of the environments module: versioned bundles of variables, secret files and repositories. */
export { openBundle } from './bundle-sealing.ts'
export {
  createEnvironmentsModule,
  type EnvironmentsModule,
  type PassedOn,
} from './create-environments-module.ts'
export type { EnvironmentContext } from './environment-context.ts'
export { environmentSealedColumn, insertDefaultEnvironment } from './environment-store.ts'
export { cloneUrl, doorPathOf, type GitServers } from './git-servers.ts'
export { passedRepositories } from './passed-repositories.ts'
export {
  addRepository,
  removeFile,
  removeRepository,
  removeVariable,
  replaceSecrets,
  setFile,
  setVariable,
} from './routes/change-contents.ts'
export { createEnvironment } from './routes/create-environment.ts'
export { deleteEnvironment } from './routes/delete-environment.ts'
export {
  listDescribedVersions,
  listEnvironments,
  listRepositories,
  listVersions,
  readEnvironment,
  revealSecrets,
} from './routes/read-environments.ts'
export { updateEnvironment } from './routes/update-environment.ts'
export { upgradeEnvironment } from './routes/upgrade-environment.ts'
