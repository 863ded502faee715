/** Routes of the GitHub App and of linked repositories. */
import type { Handlers } from '../../routing/handler.ts'
import { createGithubApp, createGithubManifest, deleteGithubApp, readGithubApp } from './app/manage-app.ts'
import type { GithubContext } from './github-context.ts'
import {
  listInstallations,
  readInstallation,
  readInstallationSettings,
  unlinkInstallation,
  updateInstallation,
  updateInstallationSettings,
} from './installations/manage-installations.ts'
import { authorizeGithubLink, linkRepositories, startGithubLink } from './linking/link-repositories.ts'

export function githubRoutes(context: GithubContext): Handlers {
  const named = ({ params, query }: { params: { id: string }; query: { workspaceId: string } }) => ({
    id: params.id,
    workspaceId: query.workspaceId,
  })
  return {
    readGithubApp: () => readGithubApp(context),
    createGithubManifest: ({ caller, body }) => createGithubManifest(context, caller, body),
    createGithubApp: ({ caller, body }) => createGithubApp(context, caller, body),
    deleteGithubApp: ({ caller }) => deleteGithubApp(context, caller),
    startGithubLink: ({ caller, body }) => startGithubLink(context, caller, body),
    authorizeGithubLink: ({ caller, body }) => authorizeGithubLink(context, caller, body),
    linkRepositories: ({ caller, body }) => linkRepositories(context, caller, body),
    listInstallations: ({ caller, query }) => listInstallations(context, caller, query.workspaceId),
    readInstallation: (request) => readInstallation(context, request.caller, named(request)),
    updateInstallation: (request) =>
      updateInstallation(context, request.caller, named(request), request.body),
    unlinkInstallation: (request) => unlinkInstallation(context, request.caller, named(request)),
    readInstallationSettings: (request) => readInstallationSettings(context, request.caller, named(request)),
    updateInstallationSettings: (request) =>
      updateInstallationSettings(context, request.caller, named(request), request.body),
  }
}
