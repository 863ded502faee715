/** Requests about one linked repository, with a token of that repository alone. */
import type * as z from 'zod'
import type { LinkedRepository } from '../linked-repository.ts'
import type { GithubApi, GithubRequest } from './github-api.ts'
import { GithubRefused } from './github-errors.ts'
import type { InstallationTokens } from './installation-tokens.ts'

/** A request below `/repositories/<id>`. */
export type RepositoryRequest = Omit<GithubRequest, 'authorization'>

export type RepositoryCalls = {
  read<Schema extends z.ZodType>(request: RepositoryRequest, schema: Schema): Promise<z.output<Schema>>
  find<Schema extends z.ZodType>(request: RepositoryRequest, schema: Schema): Promise<z.output<Schema> | null>
}

export type CallsOf = (repository: LinkedRepository) => RepositoryCalls

/** Requests name the repository by its number, so that a rename or a new repository of the old name cannot misdirect them. */
export function createRepositoryCalls(api: GithubApi, tokens: InstallationTokens): CallsOf {
  return (repository) => {
    const withToken = async <T>(request: RepositoryRequest, send: (full: GithubRequest) => Promise<T>) => {
      const attempt = async (): Promise<{ token: string; result: Promise<T> }> => {
        const { token } = await tokens.get(repository, 'api')
        const path = `/repositories/${repository.repositoryId}${request.path}`
        return { token, result: send({ ...request, path, authorization: `Bearer ${token}` }) }
      }
      const first = await attempt()
      try {
        return await first.result
      } catch (error) {
        // The token was revoked before its end.
        if (!(error instanceof GithubRefused && error.status === 401)) throw error
        tokens.forget(first.token)
        return (await attempt()).result
      }
    }
    return {
      read: (request, schema) => withToken(request, (full) => api.read(full, schema)),
      find: (request, schema) => withToken(request, (full) => api.find(full, schema)),
    }
  }
}
