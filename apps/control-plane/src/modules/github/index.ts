/** Public interface of the github module: the GitHub App, linked repositories, webhooks of GitHub, and calls to GitHub. */
export { GithubRefused, GithubUnavailable } from './api/github-errors.ts'
export type { GithubOperations } from './api/github-operations.ts'
export type { GitTokenAccess, RepositoryToken } from './api/installation-tokens.ts'
export type { QuotedText, RunText } from './api/issue-text.ts'
export type { PullRequest } from './api/pull-requests.ts'
export type { CheckRun, StatusComment } from './api/status-reports.ts'
export { type AppSettings, githubSealedColumns } from './app/github-app.ts'
export {
  createGithubApp,
  createGithubManifest,
  deleteGithubApp,
  readGithubApp,
} from './app/manage-app.ts'
export type { GithubContext } from './github-context.ts'
export {
  findInstallationForRun,
  findLinkedRepository,
  type InstallationForRun,
} from './installations/installation-store.ts'
export {
  listInstallations,
  readInstallation,
  readInstallationSettings,
  unlinkInstallation,
  updateInstallation,
  updateInstallationSettings,
} from './installations/manage-installations.ts'
export type { LinkedRepository } from './linked-repository.ts'
export { authorizeGithubLink, linkRepositories, startGithubLink } from './linking/link-repositories.ts'
export { createGithubModule, type GithubModule } from './module.ts'
export type { Actor, RunSignal, RunSink, RunTrigger } from './run-triggers.ts'
export type { ReceiveWebhook } from './webhooks/receive-webhook.ts'
