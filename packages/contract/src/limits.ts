/** Every limit that the service enforces on callers. Sizes are in bytes unless the name says otherwise. */
const kibibyte = 1024
const mebibyte = 1024 * kibibyte

export const limits = {
  /** Bytes of the address and of all headers of a request together, also of one to an exposed port. */
  http: { headerBytesMax: 32 * kibibyte },
  cpus: { min: 1, max: 64, default: 2 },
  memoryMiB: { min: 512, max: 262_144, default: 4096 },
  diskGiB: { min: 1, max: 2048, default: 20 },
  ttlSeconds: { min: 60, max: 2_592_000 },
  dockNameLengthMax: 100,
  environmentReferenceLengthMax: 100,
  dockVariablesMax: 100,
  dockVariablesBytesMax: 64 * kibibyte,
  dockSetupScriptLengthMax: 65_536,
  fromLengthMax: 64,
  variableNameLengthMax: 128,
  ports: { min: 1, max: 65_535, reserved: 2222, perDockMax: 10 },
  exec: {
    commandBytesMax: 65_536,
    timeoutSeconds: { min: 1, max: 600, default: 60 },
    variablesMax: 64,
    variablesBytesMax: 32 * kibibyte,
    cwdLengthMax: 1024,
    cwdDefault: '/home/user/work',
    outputBytesMax: mebibyte,
    /** Per output stream of a command with an idempotency key. The result of a longer stream cannot be replayed. */
    keptBytesMax: 64 * kibibyte,
    /** Sealed bytes of all kept results of a Dock and of an organization; beyond it the oldest results are dropped. */
    keptBytesPerDockMax: 8 * mebibyte,
    keptBytesPerOrganizationMax: 128 * mebibyte,
    keptPerDockMax: 1000,
    inFlightPerDockMax: 4,
  },
  /** GitHub Runs: turns of one Run, bytes of the log of one turn and of one answer, and minutes in `pending`. */
  runs: {
    turnsMax: 10,
    logBytesMax: 4 * mebibyte,
    logPartBytesMax: 256 * kibibyte,
    pendingMinutesMax: 30,
    repoLengthMax: 200,
    listLimitMax: 10_000,
    instructionBytesMax: 64 * kibibyte,
    waitSecondsMax: 30,
  },
  /** Processes with streams, of all kinds together, that run in a Dock at the same time. */
  attachedProcessesPerDockMax: 64,
  idempotencyKeyLength: { min: 1, max: 255 },
  idempotencyKeepSeconds: 24 * 3600,
  terminal: {
    ticketSeconds: 30,
    openPerDockMax: 4,
    openPerUserMax: 8,
    idleSecondsMax: 30 * 60,
    openSecondsMax: 12 * 3600,
  },
  /** Open streams of the dashboard. One process serves at most `streamsMax`. */
  live: { streamsPerPersonMax: 32, streamsMax: 5000, cursorLengthMax: 2500 },
  ssh: {
    loginSeconds: 30,
    /** Keys that a client may offer on one connection. */
    loginAttemptsMax: 20,
    unauthenticatedMax: 200,
    unauthenticatedPerAddressMax: 30,
    unauthenticatedPerNetworkMax: 100,
    connectionsPerUserMax: 64,
    /** Bytes in both directions that wait in the control plane, over all connections of one person. */
    bufferedBytesPerUserMax: 256 * mebibyte,
    sessionsPerConnectionMax: 32,
    /** Open connections that are forwarded, in either direction. */
    forwardedPerConnectionMax: 256,
    listenersPerConnectionMax: 32,
  },
  /**
   * Concurrent reads of Snapshot files and listings. A host allows 9 in total and keeps the rest for its own work, three copies. A
   * reader slower than `bytesPerSecondMin`, or stalled for `stallSecondsMax`, is disconnected. If a host is at its limit, a
   * newcomer stops a read of somebody with more reads there that is open for `fairSecondsMin`. A newcomer without reads also
   * stops a read that is slower than `slowBytesPerSecond` after `slowSecondsMin`. A person and an organization list
   * `listBytesAtOnce` at full speed, and more at `listBytesPerSecond`.
   */
  snapshotReadings: {
    openPerUserMax: 4,
    openPerHostMax: 6,
    openPerHostAndOrganizationMax: 3,
    stallSecondsMax: 60,
    bytesPerSecondMin: 64 * kibibyte,
    fairSecondsMin: 10,
    slowSecondsMin: 60,
    slowBytesPerSecond: mebibyte,
    listBytesAtOnce: 64 * mebibyte,
    listBytesPerSecond: 2 * mebibyte,
  },
  /**
   * Processes that outlive their request. At most `keptBytesPerStreamMax` bytes of each output are kept, the newest, and
   * `keptBytesPerDockMax` of all outputs of a Dock. A reader that reads nothing for `holdSecondsMax` while the output
   * waits for it is disconnected. A writer of input must be as fast as one of files.
   */
  processes: {
    runningPerDockMax: 32,
    endedPerDockMax: 32,
    argumentsMax: 1024,
    argumentsBytesMax: 65_536,
    timeoutSeconds: { min: 1, max: 30 * 24 * 3600 },
    waitSeconds: { min: 0, max: 60, default: 30 },
    keptBytesPerStreamMax: 4 * mebibyte,
    keptBytesPerDockMax: 64 * mebibyte,
    holdSecondsMax: 30,
    readersPerDockMax: 128,
    openPerUserMax: 128,
    shownCommandLengthMax: 1024,
    cells: { min: 1, max: 1000 },
  },
  /**
   * Files in running Docks. A transfer without progress for `stallSeconds` ends; so does one that averages less than
   * `bytesPerSecondMin`. All requests but watches count as `open`.
   */
  files: {
    pathBytesMax: 4096,
    listPage: { min: 1, max: 1000, default: 1000 },
    openPerDockMax: 16,
    openPerUserMax: 32,
    watchesPerDockMax: 4,
    watchesPerUserMax: 16,
    watchSecondsMax: 3600,
    watchedFoldersMax: 4096,
    stallSeconds: 60,
    bytesPerSecondMin: kibibyte,
    /** For requests that transfer no bytes: delete, list, mkdir and move. */
    secondsMax: 600,
  },
  nameLength: { min: 1, max: 100 },
  slugLength: { min: 3, max: 63 },
  seats: { min: 1, default: 5 },
  invitationDays: 7,
  /** Expired ones included. The oldest expired ones make room for new ones. */
  invitationsPerOrganizationMax: 1000,
  apiKeysPerUserMax: 20,
  sshKeysPerUserMax: 20,
  sshPublicKeyLength: { min: 1, max: 16_384 },
  sshKeyProof: { challengeSeconds: 600, signatureLength: { min: 1, max: 16_384 } },
  providerKeyLength: { min: 1, max: 512 },
  passwordLength: { min: 8, max: 128 },
  displayNameLength: { min: 1, max: 60 },
  avatarUrlLengthMax: 2000,
  bioLengthMax: 280,
  contact: { emailLengthMax: 254, companyLengthMax: 120, messageLength: { min: 1, max: 4000 } },
  page: { min: 1, max: 100, default: 50 },
  environment: {
    nameLength: { min: 2, max: 64 },
    variablesMax: 100,
    variablesBytesMax: 64 * kibibyte,
    filesMax: 20,
    fileBytesMax: 256 * kibibyte,
    filesBytesMax: mebibyte,
    filePathLength: { min: 1, max: 256 },
    repositoryIdLength: { min: 1, max: 128 },
    baseBranchLengthMax: 128,
    repositorySetupScriptBytesMax: 65_536,
    /** Total over all repositories of an Environment. */
    repositorySetupScriptsBytesMax: mebibyte,
  },
  dashboard: {
    searchLengthMax: 100,
    searchedIdsMax: 50,
    pageMax: 200,
    pageDefault: 100,
    versionsPageMax: 50,
    versionsPageDefault: 20,
    folderPageMax: 500,
    diffCursorLengthMax: 10_000,
  },
  template: { nameLength: { min: 3, max: 64 }, perOrganizationMax: 10 },
  webhook: {
    endpointsPerOrganizationMax: 10,
    urlLengthMax: 2000,
    receiverSecondsMax: 10,
    attemptsMax: 25,
    backoffSeconds: { first: 30, max: 3600 },
    attemptsListedMax: 100,
    signatureAgeSecondsMax: 300,
    previousSecretHours: 24,
  },
  /** Repositories at GitHub that are linked to workspaces, and what starts Runs. Texts over `textBytesMax` are clipped. */
  github: {
    stateSeconds: { link: 600, manifest: 3600 },
    statesPerPersonMax: 20,
    codeLengthMax: 512,
    repositoriesPerLinkMax: 100,
    repositoriesPerWorkspaceMax: 500,
    commandBytesMax: 4096,
    labelLengthMax: 50,
    modelLengthMax: 128,
    budgetCents: { min: 1, max: 1_000_000, default: 500 },
    timeoutSeconds: { min: 60, max: 6 * 3600, default: 3600 },
    textBytesMax: 64 * kibibyte,
    commentsMax: 100,
  },
  /** Sign-in of a machine without a browser. */
  deviceCodes: {
    machineNameLength: { min: 1, max: 255 },
    codeLength: { min: 1, max: 128 },
    expirySeconds: 600,
    intervalSeconds: { first: 5, step: 5, max: 60 },
  },
  accountGraceDays: 30,
} as const

/** A fixed window: at most `max` calls in `windowSeconds`, counted separately for each `scope`. */
export type RateLimit = { max: number; windowSeconds: number; scope: string }

/**
 * Over the limit, a call fails with `rate_limited`; if the counter store is down, with `service_unavailable`. Deliveries of
 * webhooks wait instead.
 */
export const rateLimits = {
  execPerDock: { max: 120, windowSeconds: 60, scope: 'dock' },
  execPerCaller: { max: 600, windowSeconds: 60, scope: 'user' },
  terminalTickets: { max: 30, windowSeconds: 60, scope: 'user' },
  processStartsPerDock: { max: 240, windowSeconds: 60, scope: 'dock' },
  processStartsPerCaller: { max: 600, windowSeconds: 60, scope: 'user' },
  processCallsPerDock: { max: 2400, windowSeconds: 60, scope: 'dock' },
  processCallsPerCaller: { max: 4800, windowSeconds: 60, scope: 'user' },
  filesPerDock: { max: 1200, windowSeconds: 60, scope: 'dock' },
  filesPerCaller: { max: 2400, windowSeconds: 60, scope: 'user' },
  mcpRequests: { max: 600, windowSeconds: 60, scope: 'user' },
  snapshotFiles: { max: 1200, windowSeconds: 60, scope: 'user' },
  snapshotLists: { max: 60, windowSeconds: 60, scope: 'user' },
  environmentVersions: { max: 240, windowSeconds: 3600, scope: 'organization' },
  invitationMails: { max: 100, windowSeconds: 3600, scope: 'user' },
  apiKeyCreations: { max: 10, windowSeconds: 3600, scope: 'user' },
  sshKeyAdditions: { max: 10, windowSeconds: 3600, scope: 'user' },
  sshKeyProofs: { max: 120, windowSeconds: 3600, scope: 'user' },
  sshConnections: { max: 300, windowSeconds: 60, scope: 'client-address' },
  sshConnectionsPerNetwork: { max: 1200, windowSeconds: 60, scope: 'client-network' },
  sshSessions: { max: 1200, windowSeconds: 60, scope: 'user' },
  deviceCodesPerAddress: { max: 30, windowSeconds: 600, scope: 'client-address' },
  deviceCodePollsPerAddress: { max: 300, windowSeconds: 60, scope: 'client-address' },
  deviceCodeEntriesPerUser: { max: 30, windowSeconds: 600, scope: 'user' },
  deviceSignIns: { max: 10, windowSeconds: 3600, scope: 'user' },
  signInsPerAddress: { max: 30, windowSeconds: 60, scope: 'client-address' },
  /** These two count failures only. Devices on which the account signed in before are counted one by one. */
  signInsPerAccount: { max: 10, windowSeconds: 300, scope: 'account-and-client-address' },
  signInsPerAccountAnywhere: { max: 100, windowSeconds: 300, scope: 'account' },
  signUpsPerAddress: { max: 10, windowSeconds: 3600, scope: 'client-address' },
  passwordResetsPerAddress: { max: 10, windowSeconds: 3600, scope: 'client-address' },
  passwordResetsPerAccount: { max: 3, windowSeconds: 3600, scope: 'account' },
  contactMessages: { max: 3, windowSeconds: 3600, scope: 'client-address' },
  webhookDeliveries: { max: 60, windowSeconds: 60, scope: 'webhook-endpoint' },
  githubLinks: { max: 30, windowSeconds: 3600, scope: 'user' },
  runsFromMentions: { max: 10, windowSeconds: 3600, scope: 'installation-and-repository' },
} as const satisfies Record<string, RateLimit>

export type RateLimitName = keyof typeof rateLimits
