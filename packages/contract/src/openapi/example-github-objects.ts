/** Examples of repositories at GitHub that are linked to a workspace. */
import { ids, stamps } from './example-values.ts'

const repository = { repositoryId: 412345678, fullName: 'acme/api', isPrivate: true }
const choice = {
  installationId: 51234567,
  account: 'acme',
  repositories: [repository],
}

export const exampleGithubObjects: Readonly<Record<string, object>> = {
  GithubApp: {
    configured: true,
    source: 'manifest',
    slug: 'dock-acme',
    url: 'https://github.com/apps/dock-acme',
    oauthConfigured: true,
  },
  GithubChoice: choice,
  GithubChoices: {
    selection: 'Zq8…',
    installations: [choice],
    isComplete: true,
    installUrl: 'https://github.com/apps/dock-acme/installations/new',
  },
  GithubLink: { url: 'https://github.com/login/oauth/authorize?client_id=Iv23…&state=kX2…' },
  GithubManifest: {
    url: 'https://github.com/settings/apps/new?state=kX2…',
    manifest: '{"name":"Dock"}',
    state: 'kX2…',
  },
  GithubRepository: repository,
  Installation: {
    id: ids.other,
    installationId: 51234567,
    workspaceId: ids.workspace,
    createdBy: ids.user,
    repos: ['acme/api'],
    agent: 'opencode',
    testCommand: 'npm test',
    ...stamps,
  },
  InstallationSettings: {
    executionTarget: 'dock',
    environmentId: ids.environment,
    budgetCents: 500,
    timeoutSeconds: 3600,
    label: 'dock',
    model: null,
    commandTemplate: null,
    allowWorkflowFiles: false,
  },
}
