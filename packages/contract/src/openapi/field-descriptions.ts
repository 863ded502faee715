const passes = {
  safeForThirdParties: 'True: nothing below is passed to Docks, whatever the switches say.',
  passGithub: 'Clone the repositories into Docks.',
  passSecrets: 'Write the variables and secret files into Docks.',
  passDockCredentials:
    'Give each Dock a `DOCK_API_KEY` that acts as its creator. It is revoked when the Dock stops.',
  passAgentsCredentials: 'Fill in missing keys of coding agents from those of the organization.',
}

const usage = {
  cpuPercent: '100 is one processor in full use.',
  memLimit: 'The memory of the Dock in bytes.',
  diskBytes: 'Bytes in use on its disk.',
  rxBytes: 'Bytes received since the Dock booted.',
  txBytes: 'Bytes sent since the Dock booted.',
}

const amounts = {
  vcpuSeconds: 'Processors of running Docks, times seconds.',
  memoryMiBSeconds: 'Memory of running Docks in MiB, times seconds.',
  diskGiBSeconds: 'Disks of Docks in GiB, times seconds.',
  snapshotMiBSeconds: 'Sizes of Snapshots in MiB, times seconds.',
  costMicros: 'Millionths of the currency.',
}

const hostFields = {
  address: 'Where its last connection came from. Nothing depends on it.',
  cpuFamily: 'Vendor, family and model. Hosts with the same value run the same binaries.',
  maxDocks: 'The most Docks that it takes.',
  usedDocks: 'Docks that are placed on it, running or about to run.',
  lastHeartbeatAt: '`null`: it has never reported.',
}

const webhook = {
  secretPrefix: 'The first characters of the signing secret.',
  disabled: 'True after the receiver responded with 410.',
}

const limitMeanings = {
  docks: 'Docks that take room on a host.',
  cpus: 'Processors of these Docks together.',
  memoryMiB: 'Memory of these Docks together.',
  diskGiB: 'Disks of these Docks together.',
  storedGiB: 'Compressed bytes of Snapshots and Templates.',
  repositories: 'Repositories of one Environment.',
}

/** What fields mean, by object and field, where the name does not say it. */
export const fieldDescriptions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  CreateDockBody: {
    name: 'Unique in the workspace. Default: a generated name.',
    image: "Default: the instance's default image.",
    ttlSeconds: 'Stops the Dock this long after it is ready. `null`: it is not stopped.',
    environment: 'Name or id of an Environment. Default: the default one of the organization.',
    noEnv: 'Skip the variables and files of the Environment.',
    env: 'Variables for this Dock. They override those of its Environment.',
    from: 'The name of a Template to start from.',
    setupScript: 'Runs once, when the Dock is ready.',
  },
  BranchDockBody: {
    image: 'If given, it must be the image of the source.',
    ttlSeconds: 'Stops the copy this long after it is ready. `null`: it is not stopped.',
    environment: 'Name or id of an Environment.',
    noEnv: 'Skip the variables and files of the Environment.',
    env: 'Variables for the copy.',
  },
  ResumeDockBody: {
    ttlSeconds: 'Leave it out to keep the stored value; `null` clears it.',
    environment: 'Name or id of another Environment.',
    noEnv: 'Skip the variables and files of the Environment.',
  },
  StopDockBody: { force: 'Archive without capturing a Snapshot.' },
  Dock: {
    persistentPaths: 'The paths that are kept across stop and resume.',
    ttlSeconds: 'Seconds from ready until the automatic stop.',
    environment: 'The name of the Environment with which it starts.',
    fromTemplate: 'The Template from which it was made.',
    ip: 'Its address on the host.',
    setupError: 'Why the setup failed.',
    hostId: 'The machine that runs it, or ran it last.',
    billingPausedAt: 'Since when nothing is charged, because a stop failed.',
    lastSnapshotAt: 'When its latest completed Snapshot was taken.',
    image: 'The image from which its disk was made.',
  },
  Run: {
    agent: 'The coding agent that works.',
    branch: 'The only branch to which it may push.',
    baseBranch: 'Where the pull request leads.',
    events: 'What happened, oldest first.',
    completionStatus: 'How the work of the latest turn ended.',
  },
  RunLogPart: { nextOffset: 'Where to read on.', isComplete: 'True if nothing will follow.' },
  ExecInDockBody: {
    command: 'A line for a login bash.',
    timeoutSeconds: 'After this time the command is killed.',
    env: 'Variables for this command. They override those of the Dock.',
    cwd: 'The folder in which it runs.',
  },
  ExecResult: { truncated: 'True if output was cut at the limit.' },
  StartDockProcessBody: {
    command: 'A line for a login bash. Send this or `argv`.',
    argv: 'A program and its arguments. Send this or `command`.',
    env: 'Variables for this process. They override those of the Dock.',
    cwd: 'Default: the work folder.',
    timeoutSeconds: 'After this time the process and all that it started are killed.',
    stdin: 'Without it, the input is empty.',
    holdOutput:
      'For up to 30 seconds, drops nothing before its first reader comes: the process waits once 4 MiB are kept.',
  },
  DockProcess: {
    command: 'The beginning of the command.',
    exitCode: '`null` while it runs, and if a signal ended it.',
    signal: 'The signal that ended it.',
  },
  ProcessOutput: {
    firstOffset: 'Bytes before this offset are no longer kept.',
    endOffset: 'The offset after the last byte so far.',
    open: 'False once no more output can come.',
  },
  ProcessStdin: { offset: 'The offset of the next byte of input.', open: 'False once the input has ended.' },
  ProcessInput: { offset: 'The offset of the next byte of input.' },
  FileEntry: {
    name: 'Bytes that are not UTF-8 are U+DC80 to U+DCFF.',
    mode: 'Permission bits in four octal digits.',
    target: 'Where a link points to.',
  },
  PortSettings: { host: 'What the program sees: `localhost` with the port, or the public name.' },
  PortEntry: { url: '`null` if hosted ports are off.' },
  AuditActor: { name: '`null` once the person is erased. The id is then a pseudonym.' },
  AuditTarget: { name: 'What it was called then. A person has the name of today.' },
  AuditEntry: {
    organizationId: '`null`: it concerns the instance, or a person.',
    organizationName: 'Its name of today. `null` once it is deleted.',
    actor: '`null`: no person acted.',
    through: 'By what the person acted. `operator`: a program on the server. `platform`: Dock itself.',
    credentialId: 'The id of the session, API key or SSH key.',
    address: 'Where the request came from.',
    details: 'What else is known, depending on the action. Never a secret.',
  },
  CreatedApiKey: { apiKey: 'The key itself. It is shown only here.' },
  ApiKey: {
    keyPrefix: 'The first characters of the key, by which people recognize it.',
    lastUsedAt: '`null`: never used. May be a minute late.',
  },
  CreatedWebhookEndpoint: { ...webhook, secret: 'It signs the deliveries, and is shown only here.' },
  WebhookEndpoint: webhook,
  DeliveryAttempt: {
    status: 'The HTTP status of the receiver; `null` if it did not respond.',
    error: 'Why there is no status.',
    eventId: 'The same in each attempt to deliver the event.',
  },
  Environment: {
    ...passes,
    varNames: 'The names of its variables, never their values.',
    isDefault: 'True: creates that name no Environment use it.',
    currentVersion: 'Each change of its contents makes a version. Docks keep theirs until they are upgraded.',
  },
  DescribedVersion: { ...passes, dockCount: 'Docks that use this version.' },
  EnvironmentVersion: { dockCount: 'Docks that use this version.' },
  UpdateEnvironmentBody: passes,
  EnvironmentRepository: {
    repositoryId: 'Its number at the provider.',
    fullName: 'As `owner/name`.',
    baseBranch: 'The branch that is cloned. `null`: the default branch of the repository.',
  },
  AddEnvironmentRepositoryBody: {
    repositoryId: 'Its number at the provider.',
    fullName: 'As `owner/name`.',
    baseBranch: 'The branch that is cloned. Default: the default branch of the repository.',
    setupScript: 'Runs in the clone, once for each Dock.',
  },
  ReplaceEnvironmentSecretsBody: {
    envContents: 'Lines of `NAME=value`; empty lines and lines with `#` are skipped. Left out: no variables.',
    secretFiles: 'Left out: no secret files.',
  },
  SecretFile: { path: 'Relative to the work folder, and inside it.' },
  UpgradeEnvironmentBody: { dockIds: 'Docks that change to the current version.' },
  DockSample: { ...usage, source: 'The runtime that measured it.', memBytes: 'Memory in use.' },
  StatsAggregate: usage,
  SeriesPoint: usage,
  WindowStats: { samples: 'How many samples the window has.' },
  DockStats: { sample: 'The latest sample; `null` if there is none.' },
  UsageAmounts: amounts,
  UsageDay: { ...amounts, closed: 'True: its figures never change.' },
  BillingPlan: {
    currency: 'As in ISO 4217.',
    concurrentDocks: '`null`: no limit.',
    concurrentFastRuns: '`null`: no limit.',
    monthlyBudgetMicros: 'Millionths of the currency. `null`: no limit.',
  },
  OrganizationLimitValues: limitMeanings,
  OrganizationLimitUsage: {
    ...limitMeanings,
    repositories: 'Repositories of the Environment that has most.',
  },
  Organization: {
    seats: 'The most members and pending invitations together.',
    slug: 'Its name in addresses.',
  },
  Config: {
    authProviders: '`credential` is email and password.',
    mailDelivery: '`log`: mails become files on the server.',
    appUrl: 'Where the dashboard is.',
    chatgptSignIn: 'True if a hosted assistant can be connected.',
  },
  Identity: {
    providers: 'How this person can sign in.',
    instanceAdmin: 'True if this person may see hosts and plans.',
  },
  LoginConnection: {
    id: 'As `provider:identifier`.',
    primary: 'True for email and password, which cannot be removed.',
  },
  Notification: { eventId: 'The event that it tells of.', linkPath: 'The page of the dashboard about it.' },
  HostSummary: hostFields,
  HostDetail: {
    ...hostFields,
    runs: 'Sandboxes that the host reports.',
    orphans: 'Reported sandboxes that match no Dock. They are ended.',
  },
  HostCredential: { credential: 'Identifies the host from now on. It is shown only here.' },
  SignalDockProcessBody: {
    signal: 'Its name without `SIG`.',
    target: 'Only the process, its process group (the default), or the process with all that it started.',
  },
  DeviceCode: {
    deviceCode: 'Proves that the machine asked. Keep it secret.',
    userCode: 'The person compares it with the one on the page.',
    verificationUrlComplete: 'The page with the code already entered.',
    intervalSeconds: 'How long the machine waits between two requests.',
  },
  Image: { available: 'True if a Dock can start from it now.' },
  Snapshot: {
    runtime: 'Only this runtime can boot it. `null`: any.',
    sizeBytes: 'What it takes on its disk.',
  },
  Template: { sourceDockId: 'The Dock that was frozen. It cannot be deleted before the Template.' },
  TerminalTicket: { ticket: 'Opens one WebSocket at the same path.' },
  DockStopActor: {
    name: 'The person, or the part of Dock that acted.',
    keyName: 'The name of the API key. `null` for everybody but its owner.',
  },
  TimelineEntry: {
    through: 'How the change came, such as `api`, `timer` or `host`.',
    why: 'The reason, such as `ttl`.',
  },
  Installation: {
    installationId: 'The number of the installation at GitHub.',
    repos: 'The repositories that are linked to this workspace, as `owner/name`.',
    testCommand: 'Runs in the repository after the agent has finished. `null`: none.',
  },
  InstallationSettings: {
    environmentId: 'The Environment of the Runs. `null`: none.',
    budgetCents: 'What the models of one Run may cost, in cents of a US dollar.',
    timeoutSeconds: 'How long one turn of a Run may work.',
    label: 'An issue that gets this label starts a Run. `null`: no label does.',
    model: 'As `provider/model`. `null`: the default of the agent.',
    commandTemplate: 'The command of the agent `command`.',
    allowWorkflowFiles: 'True if a Run may change files in `.github/workflows`.',
  },
  GithubApp: {
    source: '`settings`: of the operator. `manifest`: made in the browser.',
    oauthConfigured: 'True if repositories can be linked.',
  },
  GithubManifest: { url: 'Where a form with the field `manifest` is posted to.' },
  GithubLink: { url: 'Where the person agrees. GitHub returns to the dashboard.' },
  GithubChoices: {
    selection: 'Proves the choice to `linkRepositories`. Works once, for ten minutes.',
    isComplete: 'False if there are more repositories than are listed.',
    installUrl: 'Where the App is installed on more repositories.',
  },
  SnapshotFileLink: { url: 'A relative link to the route that returns the bytes.' },
}
