/** Examples of people, organizations, keys and hosts. */
import { ids, stamps, times } from './example-values.ts'

const amounts = {
  vcpuSeconds: 7200,
  memoryMiBSeconds: 14_745_600,
  diskGiBSeconds: 72_000,
  snapshotMiBSeconds: 0,
  costMicros: 84_000,
}
const usageDay = { day: '2026-03-02', closed: false, ...amounts }
const plan = {
  name: 'team',
  currency: 'EUR',
  concurrentDocks: 20,
  concurrentFastRuns: 5,
  monthlyBudgetMicros: null,
}
const quarantinedItem = {
  id: ids.snapshot,
  hostId: ids.host,
  kind: 'dock',
  state: 'held',
  dockId: ids.dock,
  organizationId: ids.organization,
  hostname: 'api',
  sizeBytes: 734_003_200,
  firstSeenAt: times.createdAt,
}
const auditActor = { id: ids.user, name: 'Sam Reed', email: 'sam@acme.example' }
const auditTarget = { type: 'person', id: ids.user, name: 'Kim Lee' }
const auditEntry = {
  ...{ id: ids.snapshot, at: times.createdAt, organizationId: ids.organization },
  organizationName: 'Acme',
  ...{ action: 'member.role_changed', outcome: 'succeeded', actor: auditActor, through: 'session' },
  ...{ credentialId: null, address: '192.0.2.7', target: auditTarget },
  details: { from: 'member', to: 'admin' },
}
const usedInvitation = { organizationName: 'Acme', invitedBy: 'Sam Reed' }
const unverifiedPerson = {
  ...{ id: ids.user, name: 'Kim Lee', email: 'kim@acme.example', createdAt: times.createdAt },
  invitation: usedInvitation,
}
const runtimeRelease = {
  version: '20261012.0',
  source: "gVisor's release server",
  releasedAt: '2026-10-12',
  isOld: false,
}
const plannedOrganization = {
  ...{ id: ids.organization, name: 'Acme', slug: 'acme', plan: 'team', active: true },
  ...{ liveDocks: 3, spentMicros: 1_250_000 },
}
const values = {
  docks: 20,
  cpus: 64,
  memoryMiB: 131_072,
  diskGiB: 1000,
  storedGiB: 500,
  snapshots: 1000,
  environments: 50,
  repositories: 20,
  templates: 10,
  workspaces: 50,
}
const usage = {
  ...{ docks: 3, cpus: 6, memoryMiB: 12_288, diskGiB: 60 },
  ...{ storedGiB: 4.5, snapshots: 12, environments: 2, repositories: 1, templates: 1, workspaces: 2 },
}
const organizationFields = { id: ids.organization, name: 'Acme', slug: 'acme', seats: 5, ...stamps }
const invitationPreview = {
  id: ids.invitation,
  organizationName: 'Acme',
  role: 'member',
  expiresAt: times.expiresAt,
}
const apiKey = {
  id: ids.key,
  name: 'laptop',
  keyPrefix: 'dock_3f9a',
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: times.changedAt,
  createdAt: times.createdAt,
}
const assistant = {
  connected: true,
  status: 'active',
  email: 'sam@acme.example',
  planType: 'pro',
  updatedAt: times.changedAt,
}
const host = {
  id: ids.host,
  address: '203.0.113.7',
  cpuFamily: 'x86_64',
  kernel: 'Linux',
  runtime: 'gvisor',
  kernelRelease: '6.1.0-40-amd64',
  vcpuTotal: 32,
  memTotalBytes: 137_438_953_472,
  diskTotalBytes: 2_199_023_255_552,
  maxDocks: 100,
  usedDocks: 12,
  runningDocks: 9,
  state: 'online',
  lastHeartbeatAt: times.changedAt,
  createdAt: times.createdAt,
}
const hostDock = {
  id: ids.dock,
  name: 'api-tests',
  state: 'ready',
  cpus: 2,
  memoryMiB: 4096,
  diskGiB: 20,
  runtime: 'gvisor',
  ip: '10.88.0.5',
  stateChangedAt: times.changedAt,
  workspaceName: 'Main',
  organizationId: ids.organization,
  organizationName: 'Acme',
}
const reportedRuntime = { dockId: ids.dock, state: 'running', kind: 'dock' }
const notification = {
  id: ids.notification,
  eventId: ids.event,
  type: 'disk_warning',
  title: 'api-tests: the disk is almost full',
  body: 'The disk of api-tests is 90% full.',
  dockId: ids.dock,
  linkPath: `/docks/${ids.dock}`,
  read: false,
  occurredAt: times.changedAt,
}
const connection = {
  id: 'password',
  provider: 'email',
  identifier: 'sam@acme.example',
  primary: true,
  linkedAt: times.createdAt,
}
const preference = { type: 'disk_warning', audience: 'creator', enabled: true, emailEnabled: false }
const membership = { userId: ids.user, role: 'admin', ...stamps }
const sshAddress = { host: 'dock.example', port: 2222 }
const portsDomain = { domain: 'docks.example' }

const invitation = {
  id: ids.invitation,
  email: 'kim@acme.example',
  role: 'member',
  expiresAt: times.expiresAt,
  createdAt: times.createdAt,
}

export const exampleAccountObjects: Readonly<Record<string, object>> = {
  ApiKey: apiKey,
  AssistantConnection: assistant,
  BillingPlan: plan,
  CloseAccountResult: { closed: true, purgeAt: times.expiresAt },
  Config: {
    apiUrl: 'https://dock.example',
    appUrl: 'https://dock.example',
    billingEnabled: false,
    authProviders: ['email'],
    mailDelivery: 'smtp',
    githubAppConfigured: false,
    ssh: sshAddress,
    ports: portsDomain,
    chatgptSignIn: false,
  },
  CreatedApiKey: { ...apiKey, apiKey: 'dock_3f9a…' },
  HostTest: {
    ...{ hostId: ids.host, runtime: 'gvisor', image: 'debian-13' },
    ...{ bootMs: 230.4, execMs: 18.2, thawMs: 21.7 },
  },
  DeclaredLost: { hostId: ids.host, docks: 12, failedSnapshots: 1 },
  DeviceCode: {
    deviceCode: 'q3Jf…',
    userCode: 'WDJB-MJHT',
    verificationUrl: 'https://dock.example/device',
    verificationUrlComplete: 'https://dock.example/device?code=WDJB-MJHT',
    intervalSeconds: 5,
    expiresAt: '2026-03-02T09:10:00.000Z',
  },
  DeviceCodeApproved: { ...apiKey, state: 'approved', apiKey: 'dock_3f9a…' },
  DeviceCodePending: { state: 'pending', intervalSeconds: 5 },
  DeviceCodeProgress: { state: 'pending', intervalSeconds: 5 },
  DeviceCodeSlowDown: { state: 'slow_down', intervalSeconds: 10 },
  DeviceSignIn: {
    userCode: 'WDJB-MJHT',
    verificationUrl: 'https://provider.example/device',
    intervalSeconds: 5,
    expiresAt: '2026-03-02T09:15:00.000Z',
  },
  DeviceSignInConnected: { ...assistant, state: 'connected' },
  DeviceSignInPending: { state: 'pending' },
  DeviceSignInProgress: { state: 'pending' },
  EraseAccountResult: { erased: true },
  HostCredential: { hostId: ids.host, credential: 'host_5b1c…' },
  HostDetail: { ...host, docks: [hostDock], runs: [], orphans: [reportedRuntime] },
  HostDock: hostDock,
  HostSummary: host,
  Identity: {
    id: ids.user,
    email: 'sam@acme.example',
    emailVerified: true,
    providers: ['email'],
    instanceAdmin: false,
  },
  Invitation: invitation,
  InvitationAccepted: { organizationId: ids.organization, role: 'member' },
  InvitationDeclined: { declined: true },
  InvitationPreview: invitationPreview,
  InvitationGreeting: {
    ...{ organizationName: 'Acme', invitedBy: 'Sam Reed', role: 'member', expiresAt: invitation.expiresAt },
  },
  InviteMemberResult: { status: 'accepted' },
  LinkedInvitation: {
    ...invitation,
    link: 'https://dock.example/invitations/Zx3vQ0m8bYb1wq5Jk2r7Tn9Lc4Hd6Fs0Pg8Uo1Ei3Ay',
  },
  ListConnectionsResult: { connections: [connection] },
  LoginConnection: connection,
  MarkAllNotificationsReadResult: { updated: 3 },
  MarkNotificationReadResult: { id: ids.notification, read: true },
  Member: { ...membership, email: 'sam@acme.example' },
  Membership: { ...membership, organizationId: ids.organization },
  NamedMember: { ...membership, email: 'sam@acme.example', name: 'Sam Reed' },
  Notification: notification,
  AuditActor: auditActor,
  AuditTarget: auditTarget,
  AuditEntry: auditEntry,
  AuditPage: { entries: [auditEntry], nextCursor: null },
  NotificationPage: { notifications: [notification], nextCursor: null, unreadCount: 1 },
  NotificationPreference: preference,
  Organization: { ...organizationFields, role: 'owner' },
  OrganizationLimitUsage: usage,
  OrganizationLimitValues: values,
  OrganizationLimits: { limits: values, usage },
  OrganizationPlan: { plan, active: true },
  UsedInvitation: usedInvitation,
  UnverifiedPerson: unverifiedPerson,
  UnverifiedPeople: { people: [unverifiedPerson], hasMore: false },
  VouchedAddress: {
    ...{ userId: ids.user, email: 'kim@acme.example', vouchedBy: ids.user, vouchedAt: times.createdAt },
  },
  QuarantinedItem: quarantinedItem,
  QuarantineList: { items: [quarantinedItem], hasMore: false },
  AdoptedItem: {
    dockId: ids.dock,
    snapshotId: ids.snapshot,
    organizationId: ids.organization,
    isNewDock: true,
  },
  HostVersions: {
    isBuilder: true,
    isEmulated: false,
    memAvailableBytes: 34_359_738_368,
    diskFreeBytes: 429_496_729_600,
    warmDocks: 2,
    images: ['ubuntu-24.04'],
    runtimeRelease,
  },
  RuntimeRelease: runtimeRelease,
  PlannedOrganization: plannedOrganization,
  PlannedOrganizationPage: { organizations: [plannedOrganization], plans: [plan], nextCursor: null },
  OrganizationUsage: {
    month: '2026-03',
    closedUntil: '2026-03-02',
    currency: 'EUR',
    total: amounts,
    days: [usageDay],
  },
  OrganizationWithoutRole: organizationFields,
  PortsDomain: portsDomain,
  Profile: { userId: ids.user, displayName: 'Sam', avatarUrl: null, bio: '', ...stamps },
  ProviderKeyStatus: { provider: 'anthropic', configured: true, updatedAt: times.changedAt },
  ReadNotificationPreferencesResult: { organizationId: ids.organization, preferences: [preference] },
  RemoveConnectionResult: { removed: true },
  ReopenAccountResult: { reopened: true },
  ReportedRuntime: reportedRuntime,
  Retention: { enabled: false },
  RevealProviderKeyResult: { provider: 'anthropic', key: 'sk-…' },
  RevokeApiKeyResult: { revoked: true },
  RevokeInvitationResult: { revoked: true },
  SendContactResult: { sent: true },
  SentEvent: { eventId: ids.event },
  SetOrganizationNotificationPreferenceResult: {
    organizationId: ids.organization,
    type: 'disk_warning',
    enabled: false,
  },
  SetPersonalNotificationPreferenceResult: { type: 'disk_warning', emailEnabled: true },
  SshAddress: sshAddress,
  SshKey: {
    id: ids.key,
    name: 'laptop',
    publicKey: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIO5q0M3q9n6c0m0m1nVtXzqjYJpU0f0b3c2d1e0f9a8b sam@laptop',
    fingerprint: 'SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU',
    lastUsedAt: null,
    createdAt: times.createdAt,
  },
  SshKeyChallenge: {
    challenge:
      'dock-ssh-key v1 instance=https://dock.acme.example account=sam@acme.example key=SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU nonce=q3Jf…',
    namespace: 'dock-ssh-key@v1',
    expiresAt: times.expiresAt,
  },
  SshKeyProof: { sshKeyId: ids.key, provedAt: times.changedAt, expiresAt: null },
  UsageAmounts: amounts,
  UsageDay: usageDay,
  Workspace: { id: ids.workspace, organizationId: ids.organization, name: 'Main', slug: 'main', ...stamps },
}
