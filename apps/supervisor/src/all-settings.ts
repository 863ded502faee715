/**
 * Every setting of an operator. `script/settings-table` writes the tables of README and docs/settings.md from this list.
 * A test fails when a program reads a variable that is neither here nor in `internal-variables.ts`.
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
        names: ['DOCK_RUNTIME'],
        usual: '`gvisor`',
        sets: 'what runs the Docks of this host: `gvisor`, or `microvm` for a machine with KVM: [docs/operate/microvm.md](docs/operate/microvm.md)',
      },
      {
        names: ['DOCK_MICROVM_TCG'],
        usual: '`refuse`',
        sets: 'host agent: `allow` emulates the processor where KVM runs no microVM, which is many times slower; for tests',
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
