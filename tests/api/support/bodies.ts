/** A valid body for each route, by route name, and queries for routes that need more than the organization. */
import type { RouteName } from '@dock/contract'
import type { Tenant } from './tenant.ts'

/** Ids that a body can contain: a tenant's, or ids of nothing. */
export type Ids = Pick<Tenant, 'organizationId' | 'workspaceId' | 'dockId'>

export const bodies: Readonly<Partial<Record<RouteName, (ids: Ids) => object>>> = {
  createDock: ({ workspaceId }) => ({ workspaceId }),
  execInDock: () => ({ command: 'true' }),
  makeDockFolder: () => ({ path: '/absent/folder' }),
  moveDockFile: () => ({ from: '/absent/a', to: '/absent/b' }),
  startDockProcess: () => ({ command: 'true' }),
  resizeDockProcess: () => ({ cols: 80, rows: 24 }),
  signalDockProcess: () => ({ signal: 'TERM' }),
  exposePort: () => ({ port: 8080 }),
  changePort: () => ({ host: 'public' }),
  createTemplate: ({ dockId }) => ({ dockId, name: 'template' }),
  createEnvironment: ({ organizationId }) => ({ organizationId, name: 'another' }),
  addEnvironmentRepository: () => ({ provider: 'github', repositoryId: '1', fullName: 'owner/name' }),
  setEnvironmentVariable: () => ({ key: 'KEY', value: 'value' }),
  upgradeEnvironment: ({ dockId }) => ({ dockIds: [dockId] }),
  setEnvironmentFile: () => ({ path: 'a/file', contents: 'text' }),
  changeOrganizationLimits: () => ({ docks: 1000 }),
  adoptQuarantined: () => ({}),
  setOrganizationPlan: () => ({ plan: null }),
  createOrganization: () => ({ name: 'Another' }),
  inviteMember: () => ({ email: 'invited@example.test' }),
  changeMemberRole: () => ({ role: 'member' }),
  createWorkspace: () => ({ name: 'Another' }),
  sendContact: () => ({
    name: 'Somebody',
    email: 'somebody@example.test',
    topic: 'business',
    message: 'Good day.',
  }),
  eraseAccount: () => ({ confirmation: 'erase my account data' }),
  updateRetention: () => ({ enabled: false }),
  setOrganizationNotificationPreference: ({ organizationId }) => ({
    organizationId,
    type: 'disk_full',
    enabled: true,
  }),
  setPersonalNotificationPreference: () => ({ type: 'disk_full', emailEnabled: true }),
  startRun: ({ workspaceId }) => ({ workspaceId, repo: 'acme/app', issueNumber: 1 }),
  createGithubApp: () => ({ code: 'x', state: 'x' }),
  startGithubLink: ({ workspaceId }) => ({ workspaceId }),
  authorizeGithubLink: ({ workspaceId }) => ({ workspaceId, state: 'x', code: 'x' }),
  linkRepositories: ({ workspaceId }) => ({ workspaceId, selection: 'x', repositoryIds: [1] }),
  createApiKey: () => ({ name: 'another' }),
  createDeviceCode: () => ({ machineName: 'laptop' }),
  redeemDeviceCode: () => ({ deviceCode: 'x' }),
  addSshKey: () => ({
    name: 'laptop',
    publicKey: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIO5q0M3q9n6c0m0m1nVtXzqjYJpU0f0b3c2d1e0f9a8b laptop',
  }),
  proveSshKey: () => ({ signature: 'x' }),
  setProviderKey: ({ organizationId }) => ({ organizationId, provider: 'openai', key: 'secret' }),
  createWebhookEndpoint: ({ organizationId }) => ({
    organizationId,
    name: 'hook',
    url: 'https://hooks.example.com/dock',
    events: ['dock.ready'],
  }),
}

export const queries: Readonly<Partial<Record<RouteName, Record<string, string>>>> = {
  readSnapshotFile: { path: '/etc/hostname' },
  // No test depends on files of the machine that plays the Dock.
  readDockFile: { path: '/absent/a' },
  writeDockFile: { path: '/absent/a' },
  deleteDockFile: { path: '/absent/a' },
  listDockFiles: { path: '/absent' },
  watchDockFiles: { path: '/absent' },
  writeDockProcessInput: { offset: '0' },
  connectTerminal: { ticket: 'x' },
}
