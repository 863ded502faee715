/** The decrypted contents of one version of an Environment. It is sealed before it is stored. */
import {
  byteLength,
  type EnvironmentRepository,
  findFilesFault,
  type GitProvider,
  limits,
  normalizeFilePath,
  ServiceError,
  variablesBytes,
} from '@dock/contract'

export type Repository = Omit<EnvironmentRepository, 'hasSetupScript'> & {
  setupScript: string | null
  /**
   * Id of the user who added the repository. Docks access it with this user's linked account. Null for repositories
   * that were added before this field existed.
   */
  addedBy: string | null
}

export type Bundle = {
  readonly variables: Readonly<Record<string, string>>
  /** File contents by path, relative to the working directory. */
  readonly files: Readonly<Record<string, string>>
  readonly repositories: readonly Repository[]
}

export const emptyBundle: Bundle = { variables: {}, files: {}, repositories: [] }

/**
 * Returns the bundle without files that have no name, such as `.`, which could be saved before paths were normalized. No
 * Dock can take them, and clients cannot name them in an address: they resolve the dot.
 */
export function dropNamelessFiles(bundle: Bundle): Bundle {
  const named = Object.entries(bundle.files).filter(([path]) => normalizeFilePath(path) !== '')
  return { ...bundle, files: Object.fromEntries(named) }
}

const refuse = (message: string): never => {
  throw new ServiceError('validation_error', { message })
}

/**
 * Throws `validation_error` if the bundle exceeds a limit, or if a change adds files that no Dock can take. Faults of files
 * that were saved `before` do not hinder other changes.
 */
export function checkBundle({ variables, files, repositories }: Bundle, before: Bundle = emptyBundle): void {
  const max = limits.environment
  const contents = Object.values(files)
  if (Object.keys(variables).length > max.variablesMax)
    refuse(`An Environment may have at most ${max.variablesMax} variables.`)
  if (variablesBytes(variables) > max.variablesBytesMax)
    refuse(`The variables of an Environment may have at most ${max.variablesBytesMax} bytes in total.`)
  if (contents.length > max.filesMax) refuse(`An Environment may have at most ${max.filesMax} secret files.`)
  if (contents.reduce((sum, text) => sum + byteLength(text), 0) > max.filesBytesMax)
    refuse(`The secret files of an Environment may have at most ${max.filesBytesMax} bytes in total.`)
  const scripts = repositories.reduce((sum, { setupScript }) => sum + byteLength(setupScript ?? ''), 0)
  if (scripts > max.repositorySetupScriptsBytesMax)
    refuse(
      `The setup scripts of an Environment may have at most ${max.repositorySetupScriptsBytesMax} bytes in total.`,
    )
  const paths = Object.keys(files)
  const fault = paths.every((path) => Object.hasOwn(before.files, path)) ? null : findFilesFault(paths)
  if (fault !== null) refuse(`files: ${fault}`)
}

/** Returns the folder that a repository is cloned into, relative to the working directory. */
export function folderOf(repository: Pick<Repository, 'fullName'>): string {
  return repository.fullName.slice(repository.fullName.lastIndexOf('/') + 1)
}

/** A user who added repositories of a provider. Docks access these with the user's linked account. */
export type RepositoryAdder = { provider: GitProvider; userId: string }

const listAdders = (repositories: readonly Repository[]): RepositoryAdder[] => {
  const adders = repositories.flatMap(({ provider, addedBy }) =>
    addedBy === null ? [] : [{ provider, userId: addedBy }],
  )
  return [...new Map(adders.map((adder) => [`${adder.provider} ${adder.userId}`, adder])).values()]
}

/** Returns the parts of a bundle that are stored unsealed, so that reading them needs no decryption. */
export function describeBundle(bundle: Bundle): {
  varNames: string[]
  files: { path: string; size: number }[]
  repositories: EnvironmentRepository[]
  repositoryAdders: RepositoryAdder[]
} {
  return {
    varNames: Object.keys(bundle.variables).sort(),
    files: Object.entries(bundle.files)
      .map(([path, text]) => ({ path, size: byteLength(text) }))
      .sort((a, b) => (a.path < b.path ? -1 : 1)),
    repositories: bundle.repositories.map(({ setupScript, addedBy, ...known }) => ({
      ...known,
      hasSetupScript: setupScript !== null,
    })),
    repositoryAdders: listAdders(bundle.repositories),
  }
}
