/** Routes of Environments. */
import type { DockContext } from '../../modules/docks/index.ts'
import {
  addRepository,
  createEnvironment,
  deleteEnvironment,
  type EnvironmentContext,
  listDescribedVersions,
  listEnvironments,
  listRepositories,
  listVersions,
  readEnvironment,
  removeFile,
  removeRepository,
  removeVariable,
  replaceSecrets,
  revealSecrets,
  setFile,
  setVariable,
  updateEnvironment,
  upgradeEnvironment,
} from '../../modules/environments/index.ts'
import type { Handlers } from '../../routing/handler.ts'

type Named = { params: { ref: string }; query: { organizationId?: string | undefined } }

const named = ({ params, query }: Named) => ({ ref: params.ref, organizationId: query.organizationId })

export function environmentHandlers(context: EnvironmentContext): Handlers {
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
  }
}

/** The route that also changes Docks. */
export function environmentUpgradeHandlers(context: DockContext): Handlers {
  return {
    upgradeEnvironment: (request) =>
      upgradeEnvironment(context, request.caller, named(request), request.body),
  }
}
