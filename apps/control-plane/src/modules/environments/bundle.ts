/** What a version of an Environment holds, in the open. Only sealed does it leave the process. */
import {
  byteLength,
  type EnvironmentRepository,
  type GitProvider,
  limits,
  ServiceError,
  variablesBytes,
} from '@dock/contract'

export type Repository = Omit<EnvironmentRepository, 'hasSetupScript'> & {
  setupScript: string | null
  /** Who added it, and so lets Docks reach it as them; null of one that was added before this was kept. */
  addedBy: string | null
}

export type Bundle = {
  readonly variables: Readonly<Record<string, string>>
  /** Contents by path, relative to the work folder. */
  readonly files: Readonly<Record<string, string>>
  readonly repositories: readonly Repository[]
}

export const emptyBundle: Bundle = { variables: {}, files: {}, repositories: [] }

const tooMuch = (message: string): never => {
  throw new ServiceError('validation_error', { message })
}

/** Throws `validation_error` when the bundle is larger than an Environment may be. */
export function checkBundle({ variables, files, repositories }: Bundle): void {
  const most = limits.environment
  const contents = Object.values(files)
  if (Object.keys(variables).length > most.variablesMax)
    tooMuch(`An Environment holds at most ${most.variablesMax} variables.`)
  if (variablesBytes(variables) > most.variablesBytesMax)
    tooMuch(`The variables of an Environment hold at most ${most.variablesBytesMax} bytes in all.`)
  if (contents.length > most.filesMax) tooMuch(`An Environment holds at most ${most.filesMax} secret files.`)
  if (contents.reduce((sum, text) => sum + byteLength(text), 0) > most.filesBytesMax)
    tooMuch(`The secret files of an Environment hold at most ${most.filesBytesMax} bytes in all.`)
  const scripts = repositories.reduce((sum, { setupScript }) => sum + byteLength(setupScript ?? ''), 0)
  if (scripts > most.repositorySetupScriptsBytesMax)
    tooMuch(
      `The setup scripts of an Environment hold at most ${most.repositorySetupScriptsBytesMax} bytes in all.`,
    )
  for (const path of Object.keys(files)) {
    const inside = Object.keys(files).find((other) => other.startsWith(`${path}/`))
    if (inside) tooMuch(`files: ${path} cannot be a file and the folder of ${inside}.`)
  }
}

/** The folder below the work folder that a repository is cloned into. */
export function folderOf(repository: Pick<Repository, 'fullName'>): string {
  return repository.fullName.slice(repository.fullName.lastIndexOf('/') + 1)
}

/** A person whose link to a provider lets Docks reach repositories that they added. */
export type RepositoryAdder = { provider: GitProvider; userId: string }

const addersOf = (repositories: readonly Repository[]): RepositoryAdder[] => {
  const adders = repositories.flatMap(({ provider, addedBy }) =>
    addedBy === null ? [] : [{ provider, userId: addedBy }],
  )
  return [...new Map(adders.map((adder) => [`${adder.provider} ${adder.userId}`, adder])).values()]
}

/** What may be known of a bundle without opening it. */
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
    repositoryAdders: addersOf(bundle.repositories),
  }
}
