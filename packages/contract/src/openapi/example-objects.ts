/** Examples of what a caller's Docks and what belongs to them look like. */
import { ids, stamps, times } from './example-values.ts'

const operation = {
  id: 'op_4kq8w2v7n1c5x9z3b6m0',
  targetType: 'dock',
  targetId: ids.dock,
  status: 'processing',
}
const dock = {
  id: ids.dock,
  workspaceId: ids.workspace,
  name: 'api-tests',
  image: 'debian-13',
  cpus: 2,
  memoryMiB: 4096,
  diskGiB: 20,
  runtime: 'gvisor',
  persistentPaths: ['/'],
  state: 'ready',
  ttlSeconds: 3600,
  environment: 'default',
  fromTemplate: null,
  ip: '10.88.0.5',
  hostId: ids.host,
  billingPausedAt: null,
  setupStatus: 'done',
  setupError: null,
  lastSnapshotAt: null,
  stateChangedAt: times.changedAt,
  ...stamps,
}
const aggregate = {
  cpuPercent: 12.5,
  memBytes: 536_870_912,
  memLimit: 4_294_967_296,
  diskBytes: 1_073_741_824,
  rxBytes: 20_480,
  txBytes: 8192,
}
const windowStats = { window: '1h', samples: 240, avg: aggregate, peak: { ...aggregate, cpuPercent: 96 } }
const dockSample = { dockId: ids.dock, at: times.changedAt, ...aggregate, source: 'host' }
const snapshot = {
  id: ids.snapshot,
  dockId: ids.dock,
  status: 'completed',
  sizeBytes: 734_003_200,
  runtime: 'gvisor',
  createdAt: times.laterAt,
}
const snapshotCopy = { provenAt: times.laterAt, damagedAt: null }
const listedSnapshot = {
  ...snapshot,
  organizationId: ids.organization,
  dockName: 'web',
  afterPowerCut: false,
  copy: snapshotCopy,
}
const snapshotSide = { type: 'file', mode: '0644', size: 1204 }
const snapshotEntry = { ...snapshotSide, name: 'report.csv' }
const snapshotChange = {
  path: '/home/user/work/report.csv',
  before: { ...snapshotSide, size: 980 },
  after: snapshotSide,
  differences: ['contents'],
}
const template = {
  id: ids.template,
  organizationId: ids.organization,
  name: 'node-ready',
  sourceDockId: ids.dock,
  status: 'ready',
  sizeBytes: 734_003_200,
  ...stamps,
}
const snapshotFile = { path: 'home/user/work/report.csv', size: 1204 }
const snapshotFileLink = {
  ...snapshotFile,
  url: `/v1/snapshots/${ids.snapshot}/files?path=home%2Fuser%2Fwork%2Freport.csv`,
}
const environmentRepository = {
  id: ids.repository,
  provider: 'github',
  repositoryId: '412345678',
  fullName: 'acme/api',
  baseBranch: 'main',
  hasSetupScript: true,
}
const environmentFile = { path: 'config/service.json', size: 142 }
const secretFile = { path: 'config/service.json', contents: '{"region":"eu-1"}' }
const revealedSecretFile = { ...secretFile, size: 17 }
const environmentConnections = { github: { connected: true }, gitlab: { connected: false } }
const fileEntry = {
  name: 'report.csv',
  type: 'file',
  size: 1204,
  mode: '0644',
  modifiedAt: times.changedAt,
  target: null,
}
const pathChange = { type: 'modified', path: '/home/user/work/report.csv', isFolder: false }
const processOutput = { firstOffset: 0, endOffset: 6, open: true }
const processStdin = { offset: 0, open: true }
const terminalCells = { cols: 120, rows: 40 }
const dockStateAnswer = { id: ids.dock, state: 'archiving' }
const dockCreator = { id: ids.user, name: 'Sam' }
const listedDock = {
  ...dock,
  organizationId: ids.organization,
  createdBy: dockCreator,
  stopAt: null,
  environmentId: ids.environment,
  environmentVersion: 3,
}
const dockStopActor = { kind: 'api_key', name: 'Sam', keyName: 'ci' }
const dockStop = {
  reason: 'requested',
  by: dockStopActor,
  at: times.changedAt,
  message: 'Sam stopped it, with the API key "ci".',
}
const timelineActor = { kind: 'person', name: 'Sam' }
const timelineEntry = {
  id: '42',
  at: times.changedAt,
  kind: 'state',
  fromState: 'provisioned',
  toState: 'ready',
  by: timelineActor,
  through: 'api',
  why: 'created',
  process: null,
  count: null,
}
const largestDock = { cpus: 8, memoryMiB: 32_768, diskGiB: 200 }
const seriesPoint = { at: times.changedAt, ...aggregate }
const runEvent = { t: 'agent_started', at: times.changedAt }

const environmentVersion = { version: 3, createdAt: times.createdAt, dockCount: 4 }
const describedVersion = {
  ...environmentVersion,
  varNames: ['DATABASE_URL'],
  files: [environmentFile],
  repos: [environmentRepository],
  safeForThirdParties: false,
  passGithub: true,
  passSecrets: true,
  passDockCredentials: false,
  passAgentsCredentials: false,
}

export const exampleObjects: Readonly<Record<string, object>> = {
  ContainerSample: { name: 'app', memBytes: 104_857_600 },
  Deleted: { deleted: true },
  DescribedVersion: describedVersion,
  Dock: dock,
  DockCreator: dockCreator,
  DockLastStop: { lastStop: dockStop },
  DockProcess: {
    id: ids.process,
    command: 'npm run dev',
    pty: null,
    state: 'running',
    exitCode: null,
    signal: null,
    reason: null,
    startedAt: times.createdAt,
    endedAt: null,
    stdin: processStdin,
    stdout: processOutput,
    stderr: { ...processOutput, endOffset: 0 },
  },
  DockSample: dockSample,
  DockSearchPage: { docks: [listedDock], nextCursor: null },
  DockSeries: { window: '1h', stepSeconds: 60, points: [seriesPoint] },
  DockStateAnswer: dockStateAnswer,
  DockStats: { dockId: ids.dock, state: 'ready', sample: dockSample, window: windowStats },
  DockStop: dockStop,
  DockStopActor: dockStopActor,
  LargestDock: largestDock,
  ReadLargestDockResult: { largest: largestDock, runtimes: ['gvisor'] },
  DockTimeline: { entries: [timelineEntry], nextCursor: null },
  Environment: {
    id: ids.environment,
    organizationId: ids.organization,
    name: 'default',
    isDefault: true,
    currentVersion: 3,
    secretsAccess: 'members',
    safeForThirdParties: false,
    passGithub: true,
    passSecrets: true,
    passDockCredentials: false,
    passAgentsCredentials: false,
    connections: environmentConnections,
    varNames: ['DATABASE_URL'],
    files: [environmentFile],
    repos: [environmentRepository],
    ...stamps,
  },
  EnvironmentConnections: environmentConnections,
  EnvironmentFile: environmentFile,
  EnvironmentRepository: environmentRepository,
  EnvironmentVersion: environmentVersion,
  ExecResult: { exitCode: 0, stdout: 'Linux\n', stderr: '', durationMs: 38, truncated: false },
  FileChange: pathChange,
  FileEntry: fileEntry,
  FileList: {
    entry: { ...fileEntry, name: 'work', type: 'folder', size: 4096, mode: '0755' },
    entries: [fileEntry],
    nextCursor: null,
  },
  Image: {
    name: 'debian-13',
    isDefault: true,
    available: true,
    version: 'built:debian-13-amd64-8ecd5ffafdb666f4.tar.zst',
  },
  ListedDock: listedDock,
  ListedSnapshot: listedSnapshot,
  ListedTemplate: {
    ...template,
    createdBy: dockCreator,
    sourceDockName: 'web',
    image: 'debian-13',
    diskGiB: 20,
  },
  Operation: operation,
  OperationAnswer: { operation },
  PathChange: pathChange,
  PathMove: {
    type: 'moved',
    path: '/home/user/work/a.txt',
    to: '/home/user/work/b.txt',
    isFolder: false,
  },
  PortSettings: { port: 3000, host: 'local' },
  PortEntry: { port: 3000, url: 'https://3000-api-tests.docks.example', createdAt: times.createdAt },
  ProcessDone: { done: true },
  ProcessInput: { offset: 6 },
  ProcessOutput: processOutput,
  ProcessStdin: processStdin,
  ProviderConnection: { connected: true },
  Removed: { removed: true },
  RevealedSecretFile: revealedSecretFile,
  RevealedSecrets: {
    envContents: 'DATABASE_URL=postgres://db.example/app\n',
    secretFiles: [revealedSecretFile],
  },
  Run: {
    id: ids.run,
    installationId: ids.other,
    workspaceId: ids.workspace,
    organizationId: ids.organization,
    repo: 'acme/api',
    issueNumber: 42,
    dockId: ids.dock,
    executionTarget: 'dock',
    state: 'working',
    prNumber: null,
    prUrl: null,
    failureReason: null,
    agent: 'opencode',
    branch: 'dock/issue-42-7f3a9c',
    baseBranch: 'main',
    promptVersion: null,
    testCommand: 'npm test',
    completionStatus: null,
    events: [runEvent],
    ...stamps,
  },
  RunEvent: runEvent,
  RunLogPart: { turn: 1, text: 'Fixed the link in the footer.\n', nextOffset: 30, isComplete: true },
  RunCost: { turns: 1, inputTokens: 48_210, outputTokens: 3_107, costUsd: 0.19, budgetUsd: 5 },
  SecretFile: secretFile,
  SeriesPoint: seriesPoint,
  Snapshot: snapshot,
  SnapshotChange: snapshotChange,
  SnapshotCopy: snapshotCopy,
  SnapshotDiff: { changes: [snapshotChange], nextCursor: null, visited: 41_230, hasUnlisted: false },
  SnapshotDownload: { snapshotId: ids.snapshot, files: [snapshotFileLink] },
  SnapshotEntry: snapshotEntry,
  SnapshotFile: snapshotFile,
  SnapshotFileLink: snapshotFileLink,
  SnapshotFolder: { entries: [snapshotEntry], nextCursor: null },
  SnapshotPage: { snapshots: [snapshot], nextCursor: null },
  SnapshotSearchPage: { snapshots: [listedSnapshot], nextCursor: null },
  SnapshotSide: snapshotSide,
  SnapshotTree: { snapshotId: ids.snapshot, files: [snapshotFile] },
  StatsAggregate: aggregate,
  Template: template,
  TerminalCells: terminalCells,
  TerminalTicket: { ticket: 'Zm9yIG9uZSB0ZXJtaW5hbA', expiresAt: '2026-03-02T09:00:33.412Z' },
  TimelineActor: timelineActor,
  TimelineEntry: timelineEntry,
  VersionPage: { versions: [describedVersion], nextBefore: null },
  WatchEnded: { type: 'ended', reason: 'time' },
  WatchNotice: { type: 'alive' },
  WatchStarted: { type: 'watching', folders: 12 },
  WindowStats: windowStats,
}
