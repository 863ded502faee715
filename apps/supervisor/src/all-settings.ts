/**
 * Every setting of an operator, and every other variable that Dock's programs read. `script/settings-table`
 * writes the tables of README and docs/settings.md from this list. A test fails when a program reads a variable that is not here.
 */

export type Setting = {
  /** Settings that belong together share a row. */
  names: readonly string[]
  /** The default, in Markdown. */
  usual: string
  /** What it sets, in Markdown. */
  sets: string
}

/** The settings of operators, by subject. Links are those of the repository's root. */
export const settingGroups: readonly { title: string; settings: readonly Setting[] }[] = [
  {
    title: 'Addresses and data',
    settings: [
      { names: ['PORT', 'DOCK_BIND'], usual: '`8080`, `127.0.0.1`', sets: 'port and address of the API' },
      {
        names: ['DOCK_PUBLIC_URL'],
        usual: 'the listening address',
        sets: 'URL at which callers reach the API: in links of mails (confirm an address, unsubscribe), callbacks of sign-in, and addresses of exposed ports',
      },
      {
        names: ['DOCK_APP_URL'],
        usual: '`DOCK_PUBLIC_URL`',
        sets: 'URL of the web pages that mails link to, where the dashboard is reached, and the name of this instance in mails',
      },
      {
        names: ['DOCK_SSH_PORT'],
        usual: '`2222`, or off if that is taken',
        sets: 'port of the SSH gateway, on the address `DOCK_BIND`; `off` turns it off: [docs/operate/ssh.md](docs/operate/ssh.md)',
      },
      {
        names: ['PORTS_DOMAIN'],
        usual: '`docks.localhost` on loopback, else `off`',
        sets: 'domain of exposed ports; its wildcard must point to this server. Not equal to, above or below the host of `DOCK_PUBLIC_URL` or `DOCK_APP_URL`',
      },
      {
        names: ['DOCK_TRUSTED_PROXIES'],
        usual: 'none',
        sets: 'addresses or networks of proxies whose `X-Forwarded-For` is trusted',
      },
      { names: ['DOCK_DATA_DIR'], usual: '`.dock` in the checkout', sets: 'folder that holds all data' },
    ],
  },
  {
    title: 'Database, keys and other services',
    settings: [
      {
        names: ['DATABASE_URL'],
        usual: 'a private cluster in the data folder',
        sets: 'PostgreSQL server, version 15 or newer',
      },
      {
        names: ['DOCK_DATABASE_CONNECTIONS'],
        usual: '`10`',
        sets: 'database connections of the control plane; the private cluster allows 100 in all',
      },
      {
        names: ['REDIS_URL'],
        usual: 'none: counted in memory',
        sets: 'Redis or Valkey that counts rate limits, so that they outlast a restart',
      },
      {
        names: ['OBJECT_STORE_URL'],
        usual: 'none: the folder `control/objects`',
        sets: 'store of the durable copies of Snapshots: `s3://KEY:SECRET@BUCKET/PREFIX?endpoint=https://…&region=…&style=path`, or `style=virtual`',
      },
      {
        names: ['SMTP_URL', 'DOCK_MAIL_FROM'],
        usual: 'none (mails become files in `control/outbox`), `dock@dock.localhost`',
        sets: 'mail server, as `smtp://user:password@host:587` or `smtps://…`, and sender of all mail: [docs/operate/mail.md](docs/operate/mail.md)',
      },
      {
        names: ['DOCK_SECRET_KEYS'],
        usual: 'a generated file, `control/keys/secret-keys`',
        sets: 'the key ring that seals secrets: [docs/operate/keys.md](docs/operate/keys.md)',
      },
      {
        names: ['DOCK_AUTH_SECRET'],
        usual: 'a generated file, `control/keys/auth-secret`',
        sets: 'secret that signs session cookies, at least 32 characters',
      },
      {
        names: ['NODE_EXTRA_CA_CERTS'],
        usual: 'none',
        sets: 'file of further certificate authorities in PEM, which the user `dock` can read: for a mail server, object store or identity provider of your own',
      },
    ],
  },
  {
    title: 'People and sign-in',
    settings: [
      {
        names: ['DOCK_ADMIN_EMAIL', 'DOCK_ADMIN_PASSWORD'],
        usual: '`admin@dock.localhost`, generated',
        sets: 'the first person, created at the first start',
      },
      {
        names: ['INSTANCE_ADMIN_EMAILS'],
        usual: 'none',
        sets: 'further instance admins, separated by commas',
      },
      {
        names: ['DOCK_SIGNUP'],
        usual: '`invite`',
        sets: 'who may create an account: `open` for anybody, `invite` for invited people, `closed` for nobody',
      },
      {
        names: ['DOCK_CONTACT_EMAIL'],
        usual: 'the first person’s address',
        sets: 'recipient of messages from the contact form',
      },
      {
        names: ['GITHUB_CLIENT_ID', 'GITHUB_CLIENT_SECRET', 'GITHUB_URL'],
        usual: 'none, none, `https://github.com`',
        sets: 'sign-in with GitHub; callback `<url>/api/auth/callback/github`; the URL names an Enterprise server',
      },
      {
        names: ['GITLAB_CLIENT_ID', 'GITLAB_CLIENT_SECRET', 'GITLAB_URL'],
        usual: 'none, none, `https://gitlab.com`',
        sets: 'sign-in with GitLab; callback `<url>/api/auth/callback/gitlab`; the URL names a self-managed server',
      },
      {
        names: ['GOOGLE_CLIENT_ID', 'GOOGLE_CLIENT_SECRET'],
        usual: 'none',
        sets: 'sign-in with Google; callback `<url>/api/auth/callback/google`',
      },
      {
        names: ['CHATGPT_CLIENT_ID', 'CHATGPT_DEVICE_URL', 'CHATGPT_TOKEN_URL'],
        usual: 'none',
        sets: 'device sign-in (RFC 8628) to a hosted assistant with a person’s own subscription',
      },
    ],
  },
  {
    title: 'Docks and images',
    settings: [
      {
        names: ['DEFAULT_IMAGE'],
        usual: '`ubuntu-24.04`, or `debian-13` where that cannot be built',
        sets: 'image of a Dock whose create names none',
      },
      {
        names: ['DOCK_EXEC_TIMEOUT_MAX_SECONDS'],
        usual: '`600`',
        sets: 'longest timeout that a caller may give a command',
      },
      {
        names: ['DOCK_CPU_OVERCOMMIT', 'DOCK_MEMORY_OVERCOMMIT'],
        usual: '`128`, `24`',
        sets: 'how many times a host’s cores and memory may be promised to Docks; `1` guarantees every size',
      },
      {
        names: ['DOCK_MIRROR_DEBIAN', 'DOCK_MIRROR_UBUNTU'],
        usual: 'as this machine’s apt',
        sets: 'package mirrors that images are built from',
      },
      {
        names: ['DOCK_COPY_MIB_PER_SECOND'],
        usual: '`64`',
        sets: 'rate at which a host reads its disks for copies',
      },
      {
        names: ['DOCK_COPY_DRILL_SECONDS'],
        usual: '`600`',
        sets: 'interval of proving one copy by reading it back; a longer one saves traffic of the object store',
      },
    ],
  },
  {
    title: 'Limits and billing',
    settings: [
      {
        names: ['DOCK_LIMIT_DOCKS', 'DOCK_LIMIT_CPUS', 'DOCK_LIMIT_MEMORY_MIB', 'DOCK_LIMIT_DISK_GIB'],
        usual: '`100`, `400`, `819200`, `4096`',
        sets: 'live Docks of one organization, and the sums of their sizes (disks that Docks in `error` keep count too): [docs/operate/limits.md](docs/operate/limits.md)',
      },
      {
        names: ['DOCK_LIMIT_STORED_GIB', 'DOCK_LIMIT_SNAPSHOTS'],
        usual: '`2048`, `20000`',
        sets: 'stored bytes and Snapshots of one organization at which it can start nothing more',
      },
      {
        names: ['DOCK_LIMIT_ORGANIZATIONS'],
        usual: '`20`',
        sets: 'organizations that one person may own, counting those that they created and handed over',
      },
      {
        names: ['DOCK_BILLING'],
        usual: '`off`',
        sets: '`on`: an organization starts compute only within its plan',
      },
      {
        names: ['DOCK_PLANS_FILE'],
        usual: '`plans.json` in the data folder, if it exists',
        sets: 'file of the plans that organizations can have: [docs/operate/billing.md](docs/operate/billing.md)',
      },
      {
        names: ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET', 'STRIPE_PRICE', 'STRIPE_METER'],
        usual: 'none',
        sets: 'invoices through Stripe: [docs/operate/billing.md](docs/operate/billing.md#stripe)',
      },
    ],
  },
  {
    title: 'GitHub Runs',
    settings: [
      {
        names: [
          'GITHUB_APP_ID',
          'GITHUB_APP_SLUG',
          'GITHUB_APP_PRIVATE_KEY',
          'GITHUB_APP_WEBHOOK_SECRET',
          'GITHUB_APP_CLIENT_ID',
          'GITHUB_APP_CLIENT_SECRET',
        ],
        usual: 'none',
        sets: 'the GitHub App of Runs, in place of one made in the dashboard: [docs/operate/github.md](docs/operate/github.md)',
      },
      {
        names: ['DOCK_RUN_IMAGE'],
        usual: '`DEFAULT_IMAGE`',
        sets: 'image of the machines of GitHub Runs; `debian-13-agents` has coding agents, once `script/image debian-13-agents` has built it',
      },
      {
        names: ['DOCK_FAST_RUNS'],
        usual: '`on`',
        sets: 'whether GitHub Runs with the target `fast` get machines; `off`: they wait until they are promoted',
      },
      {
        names: ['MODEL_ANTHROPIC_URL', 'MODEL_OPENAI_URL', 'MODEL_OPENROUTER_URL', 'MODEL_OPENCODE_URL'],
        usual: 'the addresses of these providers',
        sets: 'where GitHub Runs reach their models, without `/v1`; for a proxy of the operator',
      },
    ],
  },
  {
    title: 'Webhooks',
    settings: [
      {
        names: ['DOCK_WEBHOOK_HOSTS'],
        usual: 'none: the public internet only',
        sets: 'networks and hosts of your own that webhooks may reach too, separated by commas: `10.20.0.0/16, hooks.corp.internal, build.corp:8443`. This machine, loopback and the metadata servers of clouds need their exact address: [docs/webhooks.md](docs/webhooks.md)',
      },
      {
        names: ['DOCK_ALLOW_INSECURE_WEBHOOKS'],
        usual: 'off',
        sets: 'for development: `loopback` lets webhooks go to this machine, also by http and to any port; refused together with a public address',
      },
    ],
  },
  {
    title: 'Hosts',
    settings: [
      { names: ['DOCK_EMBEDDED_HOST'], usual: '`on`', sets: '`off`: this machine runs no Docks' },
      {
        names: ['DOCK_HOST_LOST_AFTER_SECONDS'],
        usual: '`300`',
        sets: 'silence after which a host counts as lost; deletes and forced stops of its Docks then complete without it ([lost hosts](docs/operate/lost-hosts.md))',
      },
      {
        names: ['DOCK_JOIN_TOKEN', 'DOCK_IMAGE_BUILDER', 'DOCK_PLAIN_HTTP'],
        usual: 'asked for, `off`, `off`',
        sets: '`script/host`: the join token; `on` lets this host build the image; `on` lets it reach Dock over plain http on another machine: [docs/operate/further-hosts.md](docs/operate/further-hosts.md)',
      },
      {
        names: ['DOCK_WARM_POOL'],
        usual: '`16`',
        sets: 'host agent: booted sandboxes kept ready for creates; `0`: none',
      },
      {
        names: ['DOCK_PLATFORM_MEMORY_MIB'],
        usual: 'an eighth of the machine, 768 to 8192',
        sets: 'host agent: memory that all Docks together leave to the control plane, the agent and PostgreSQL',
      },
      {
        names: ['DOCK_CONNECTIONS_PER_DOCK'],
        usual: '`4096`',
        sets: 'host agent: open TCP connections of one Dock; it may have half as many flows of other protocols',
      },
      {
        names: ['DOCK_TUNE_KERNEL'],
        usual: '`on`',
        sets: 'host agent: `off` leaves the kernel’s limits of dirty memory and its switch for RCU grace periods alone: [what Dock changes](docs/operate/what-dock-changes.md)',
      },
      {
        names: ['DOCK_CONTROL_SOCKET'],
        usual: '`on`',
        sets: 'host agent: `off` starts commands with `runsc exec` instead of the sandbox’s control socket, which is slower',
      },
      {
        names: ['DOCK_RUNSC'],
        usual: 'found, or fetched from Debian',
        sets: 'path of your own gVisor runtime: [docs/operate/upgrade-runsc.md](docs/operate/upgrade-runsc.md)',
      },
    ],
  },
  {
    title: 'Watching',
    settings: [
      {
        names: ['DOCK_METRICS_PORT'],
        usual: '`9464` where it is free',
        sets: 'port of the Prometheus metrics on loopback',
      },
      { names: ['LOG_LEVEL'], usual: '`info`', sets: 'least level of the logs in `logs/`' },
    ],
  },
]

export const allSettings: readonly Setting[] = settingGroups.flatMap(({ settings }) => settings)

/** The settings that most operators look for. README shows them. */
const commonNames: ReadonlySet<string> = new Set([
  'PORT',
  'DOCK_PUBLIC_URL',
  'PORTS_DOMAIN',
  'DOCK_TRUSTED_PROXIES',
  'DOCK_DATA_DIR',
  'DATABASE_URL',
  'OBJECT_STORE_URL',
  'SMTP_URL',
  'DOCK_SIGNUP',
  'DEFAULT_IMAGE',
])

/** What Dock does in place of settings that it no longer has. */
const removedSettings: Readonly<Record<string, string>> = {
  CHATGPT_SCOPE: 'Dock asks for `openid profile email offline_access`',
  DOCK_COPY_AGE_SECONDS: 'Dock copies a Snapshot after 30 seconds',
  DOCK_COPY_DRILL_AGAIN_SECONDS: 'Dock proves a copy at most once a day',
  DOCK_COPY_GRACE_SECONDS: 'Dock removes objects that were unused for an hour',
  DOCK_COPY_RETRY_SECONDS: 'Dock repeats a failed copy after 30 seconds, then ever later, up to an hour',
  DOCK_COPY_STRAYS_SECONDS: 'Dock searches objects without a row once a day',
  DOCK_COPY_SWEEP_SECONDS: 'Dock removes unused objects every ten minutes',
  DOCK_COPY_TIMES: 'Dock has fixed times for copies',
  DOCK_DATABASE_TIMEOUT_SECONDS: 'Dock cancels a statement of the database after 120 seconds',
  DOCK_LIMIT_ENVIRONMENTS: 'set the limit of an organization with `script/limits`',
  DOCK_LIMIT_REPOSITORIES: 'set the limit of an organization with `script/limits`',
  DOCK_LIMIT_TEMPLATES: 'set the limit of an organization with `script/limits`',
  DOCK_LIMIT_WORKSPACES: 'set the limit of an organization with `script/limits`',
  DOCK_NAMES_PER_SECOND: 'a Dock may send 200 packets a second to the name server',
  DOCK_NEW_CONNECTIONS_PER_SECOND: 'a Dock may open 500 connections a second',
  DOCK_OBJECTS_RESERVE_MIB: 'copies in the data folder leave 2 GiB of the disk free',
  DOCK_SNAPSHOT_FILE_MAX_MIB: 'one response has at most 1 GiB of a Snapshot’s file',
}

/** Returns a warning for each setting of the environment that Dock no longer has. */
export function warningsOfRemovedSettings(environment: NodeJS.ProcessEnv): string[] {
  return Object.entries(removedSettings)
    .filter(([name]) => environment[name] !== undefined)
    .map(([name, instead]) => `${name} is no longer a setting: ${instead}.`)
}

/** Variables that Dock's programs set for one another, or that only tests set. No operator needs them. */
export const internalVariables: Readonly<Record<string, string>> = {
  DOCK_CONTROL_DIR: 'the control plane’s folder, given by the supervisor',
  DOCK_LISTEN_FD: 'descriptor of the public listening socket, given by the supervisor',
  DOCK_ROOT_LISTEN_FD: 'descriptor of root’s listening socket, given by the supervisor',
  DOCK_SSH_LISTEN_FD: 'descriptor of the SSH gateway’s listening socket, given by the supervisor',
  DOCK_PLANS: 'the text of the file of plans, given by the supervisor',
  DOCK_STARTED_AT: 'when script/server began, for the greeting',
  DOCK_CONTROL_URL: 'where the agent finds the control plane, given by the supervisor or script/host',
  DOCK_HOST_DIR: 'the host agent’s folder, given by the supervisor or script/host',
  DOCK_RUN_DIR: 'the agent’s folder under /run, given by its launcher',
  DOCK_JOIN_TOKEN_FILE: 'file of a join token, given by the supervisor',
  DOCK_NODE: 'the node program, given to the agent’s launcher',
  DOCK_COMPILE_ONLY: 'loads a program and ends: script/install/compile',
  DOCK_FAULTS: 'fault points of crash tests',
  DOCK_IMAGE_CACHE: 'folder of built root filesystems that the data folders of tests share',
  DOCK_TEST_COPY_AGE_SECONDS: 'tests: age at which a Snapshot is copied (30)',
  DOCK_TEST_COPY_RETRY_SECONDS: 'tests: wait after a failed copy (30)',
  DOCK_TEST_COPY_SWEEP_SECONDS: 'tests: interval of removing unused objects (600)',
  DOCK_TEST_COPY_GRACE_SECONDS: 'tests: how long an object must have been unused (3600)',
  DOCK_TEST_COPY_STRAYS_SECONDS: 'tests: interval of searching objects without a row (86400)',
  DOCK_TEST_COPY_DRILL_AGAIN_SECONDS: 'tests: least time between two proofs of a copy (86400)',
  DOCK_TEST_CACHE: 'where script/test keeps what it builds once',
  DOCK_TEST_RUNSC: 'runtime for tests',
  DOCK_TEST_ROOTFS: 'root filesystem for tests',
}

/** Variables inside a Dock: given to its processes, or to the scripts that prepare it. */
export const dockVariables: readonly string[] = [
  ...['DOCK_API_KEY', 'DOCK_ID', 'DOCK_BYTES', 'DOCK_HOSTNAME', 'DOCK_NAMESERVER', 'DOCK_NEW_IDENTITY'],
  ...['DOCK_MACHINE_ID', 'DOCK_FOLDER', 'DOCK_REPOSITORY', 'DOCK_URL', 'DOCK_BRANCH', 'DOCK_SETUP'],
  ...['DOCK_EXEC_ID', 'DOCK_PROMPT_FILE'],
]

const tableOf = (settings: readonly Setting[]): string =>
  [
    '| Name | Default | What it sets |',
    '|---|---|---|',
    ...settings.map(
      ({ names, usual, sets }) => `| ${names.map((name) => `\`${name}\``).join(', ')} | ${usual} | ${sets} |`,
    ),
  ].join('\n')

/** Returns the table of README: the settings that most operators look for. */
export function commonSettingsTable(): string {
  return tableOf([...commonNames].map((name) => allSettings.find(({ names }) => names[0] === name)!))
}

/** Returns the tables of docs/settings.md, one for each subject. */
export function settingsTables(): string {
  return settingGroups
    .map(({ title, settings }) => `## ${title}\n${tableOf(settings)}`)
    .join('\n\n')
    .replaceAll('](docs/', '](')
}

const before = '<!-- settings: generated by script/settings-table -->\n'
const after = '\n<!-- end of settings -->'

/** Returns a document with the text between its markers replaced. Throws if the markers are missing. */
export function withTables(document: string, tables: string): string {
  const [start, end] = [document.indexOf(before), document.indexOf(after)]
  if (start < 0 || end < start) throw new Error('the document has lost the markers of its table of settings')
  return document.slice(0, start) + before + tables + document.slice(end)
}
