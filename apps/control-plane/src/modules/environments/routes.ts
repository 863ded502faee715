/** Routes of Environments. */
import type { Handlers } from '../../routing/handler.ts'
import type { DockContext } from '../docks/index.ts'
import {
  addRepository,
  removeFile,
  removeRepository,
  removeVariable,
  replaceSecrets,
  setFile,
  setVariable,
} from './change-contents.ts'
import { createEnvironment } from './create-environment.ts'
import { deleteEnvironment } from './delete-environment.ts'
import type { EnvironmentContext } from './environment-context.ts'
import {
  listDescribedVersions,
  listEnvironments,
  listRepositories,
  listVersions,
  readEnvironment,
  revealSecrets,
} from './read-environments.ts'
import { updateEnvironment } from './update-environment.ts'
import { upgradeEnvironment } from './upgrade-environment.ts'

type Named = { params: { ref: string }; query: { organizationId?: string | undefined } }

const named = ({ params, query }: Named) => ({ ref: params.ref, organizationId: query.organizationId })

/** Returns the routes. `docks` is for `upgradeEnvironment`, which works on Docks. */
export function environmentRoutes(context: EnvironmentContext, docks: DockContext): Handlers {
  return {
    listEnvironments: ({ caller }) => listEnvironments(context, caller),
    createEnvironment: ({ caller, body }) => createEnvironment(context, caller, body),
    readEnvironment: (request) => readEnvironment(context, request.caller, named(request)),
    updateEnvironment: (request) => updateEnvironment(context, request.caller, named(request), request.body),
    deleteEnvironment: (request) => deleteEnvironment(context, request.caller, named(request)),
    listEnvironmentVersions: (request) => listVersions(context, request.caller, named(request)),
    listDescribedVersions: (request) =>
      listDescribedVersions(context, request.caller, named(request), request.query),
    listEnvironmentRepositories: (request) => listRepositories(context, request.caller, named(request)),
    addEnvironmentRepository: (request) =>
      addRepository(context, request.caller, named(request), request.body),
    removeEnvironmentRepository: (request) =>
      removeRepository(context, request.caller, named(request), request.params.repoId),
    replaceEnvironmentSecrets: (request) =>
      replaceSecrets(context, request.caller, named(request), request.body),
    setEnvironmentVariable: (request) => setVariable(context, request.caller, named(request), request.body),
    removeEnvironmentVariable: (request) =>
      removeVariable(context, request.caller, named(request), request.params.key),
    setEnvironmentFile: (request) => setFile(context, request.caller, named(request), request.body),
    removeEnvironmentFile: (request) =>
      removeFile(context, request.caller, named(request), request.params.path),
    revealEnvironmentSecrets: (request) => revealSecrets(context, request.caller, named(request)),
    upgradeEnvironment: (request) => upgradeEnvironment(docks, request.caller, named(request), request.body),
  }
}
