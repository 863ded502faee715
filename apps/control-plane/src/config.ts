/** Everything an operator can set for the control plane, read once from the environment. */
import { createPrivateKey } from 'node:crypto'
import { resolve } from 'node:path'
import type { KeyProvider } from '@dock/contract'
import * as z from 'zod'
import { isNetwork } from './client-address.ts'
import type { StripeSettings } from './gateways/stripe/index.ts'
import type { SignUpPolicy, SocialLogins } from './modules/accounts/index.ts'
import { type PlanFile, parsePlans } from './modules/billing/index.ts'
import {
  type CopySettings,
  type CopyTimeName,
  copyTimeNames,
  readCopySettings,
} from './modules/copies/index.ts'
import type { GitServers } from './modules/environments/index.ts'
import type { AppSettings } from './modules/github/index.ts'
import type { DeviceFlowSettings } from './modules/keys/index.ts'
import { defaultLimits, type InstanceLimits } from './modules/limits/index.ts'
import { type PortsDomain, readPortsDomain } from './modules/ports/index.ts'

const port = z.coerce.number().int().min(0).max(65_535)
const limit = (usual: number) => z.coerce.number().int().min(0).max(2_147_483_647).default(usual)
const overcommit = z.coerce.number().min(1)
const commaList = z.string().transform((text) =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== ''),
)

const copyTime = z.coerce.number().min(0).max(10_000_000).optional()
const copyTimes = Object.fromEntries(copyTimeNames.map((name) => [name, copyTime])) as Record<
  CopyTimeName,
  typeof copyTime
>

/** The address of a provider's API, without the version and a trailing slash. */
const modelUrl = (usual: string) =>
  z
    .url({ protocol: /^https?$/ })
    .default(usual)
    .transform((url) => url.replace(/\/+$/, ''))

const schema = z.object({
  PORT: port.default(8080),
  DOCK_BIND: z.string().default('127.0.0.1'),
  DOCK_LISTEN_FD: z.coerce.number().int().min(3).optional(),
  DOCK_ROOT_LISTEN_FD: z.coerce.number().int().min(3).optional(),
  DOCK_CONTROL_DIR: z.string().default('.dock/control'),
  DATABASE_URL: z.string('must name a PostgreSQL database; script/server sets it'),
  DOCK_DATABASE_CONNECTIONS: z.coerce.number().int().min(2).max(500).default(10),
  DOCK_DATABASE_TIMEOUT_SECONDS: z.coerce.number().int().min(0).max(86_400).default(120),
  DOCK_PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
  DOCK_APP_URL: z.url({ protocol: /^https?$/ }).optional(),
  DEFAULT_IMAGE: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{0,39}$/)
    .default('ubuntu-24.04'),
  DOCK_ADMIN_EMAIL: z.email().default('admin@dock.localhost'),
  DOCK_ADMIN_PASSWORD: z.string().min(8).max(128).optional(),
  INSTANCE_ADMIN_EMAILS: commaList.default([]),
  DOCK_SIGNUP: z.enum(['invite', 'open', 'closed']).default('invite'),
  GITHUB_URL: z.url({ protocol: /^https?$/ }).default('https://github.com'),
  GITHUB_CLIENT_ID: z.string().optional(),
  GITHUB_CLIENT_SECRET: z.string().optional(),
  MODEL_ANTHROPIC_URL: modelUrl('https://api.anthropic.com'),
  MODEL_OPENAI_URL: modelUrl('https://api.openai.com'),
  MODEL_OPENROUTER_URL: modelUrl('https://openrouter.ai/api'),
  MODEL_OPENCODE_URL: modelUrl('https://opencode.ai/zen'),
  GITHUB_APP_ID: z.coerce.number().int().positive().optional(),
  GITHUB_APP_SLUG: z
    .string()
    .regex(/^[a-z0-9-]{1,100}$/)
    .optional(),
  GITHUB_APP_PRIVATE_KEY: z.string().optional(),
  GITHUB_APP_WEBHOOK_SECRET: z.string().min(16).optional(),
  GITHUB_APP_CLIENT_ID: z.string().optional(),
  GITHUB_APP_CLIENT_SECRET: z.string().optional(),
  GITLAB_URL: z.url({ protocol: /^https?$/ }).default('https://gitlab.com'),
  GITLAB_CLIENT_ID: z.string().optional(),
  GITLAB_CLIENT_SECRET: z.string().optional(),
  GOOGLE_CLIENT_ID: z.string().optional(),
  GOOGLE_CLIENT_SECRET: z.string().optional(),
  CHATGPT_CLIENT_ID: z.string().optional(),
  CHATGPT_DEVICE_URL: z.url({ protocol: /^https?$/ }).optional(),
  CHATGPT_TOKEN_URL: z.url({ protocol: /^https?$/ }).optional(),
  CHATGPT_SCOPE: z.string().default('openid profile email offline_access'),
  DOCK_AUTH_SECRET: z.string().min(32).optional(),
  DOCK_SECRET_KEYS: z.string().optional(),
  SMTP_URL: z.url({ protocol: /^smtps?$/ }).optional(),
  DOCK_CONTACT_EMAIL: z.email().optional(),
  DOCK_ALLOW_INSECURE_WEBHOOKS: z.literal('loopback').optional(),
  DOCK_MAIL_FROM: z.email().default('dock@dock.localhost'),
  OBJECT_STORE_URL: z.string().optional(),
  DOCK_OBJECTS_RESERVE_MIB: z.coerce.number().int().min(0).default(2048),
  ...copyTimes,
  DOCK_COPY_TIMES: z.never(`is gone; set ${copyTimeNames.join(', ')} instead, each in seconds`).optional(),
  REDIS_URL: z.url({ protocol: /^rediss?$/ }).optional(),
  DOCK_TRUSTED_PROXIES: commaList
    .refine((list) => list.every(isNetwork), 'must be IP addresses or networks such as 10.0.0.0/8')
    .default([]),
  PORTS_DOMAIN: z.string().optional(),
  DOCK_SSH_PORT: z.union([z.literal('off'), port], 'must be a port or off').default('off'),
  DOCK_SSH_LISTEN_FD: z.coerce.number().int().min(3).optional(),
  DOCK_EMBEDDED_HOST: z.enum(['on', 'off']).default('on'),
  DOCK_METRICS_PORT: port.optional(),
  DOCK_EXEC_TIMEOUT_MAX_SECONDS: z.coerce.number().int().min(1).max(600).default(600),
  DOCK_SNAPSHOT_FILE_MAX_MIB: z.coerce.number().positive().default(1024),
  DOCK_BILLING: z.enum(['on', 'off']).default('off'),
  DOCK_PLANS: z.string().optional(),
  STRIPE_SECRET_KEY: z.string().optional(),
  STRIPE_WEBHOOK_SECRET: z.string().optional(),
  STRIPE_PRICE: z.string().optional(),
  STRIPE_METER: z.string().optional(),
  DOCK_LIMIT_DOCKS: limit(defaultLimits.organization.docks),
  DOCK_LIMIT_CPUS: limit(defaultLimits.organization.cpus),
  DOCK_LIMIT_MEMORY_MIB: limit(defaultLimits.organization.memoryMiB),
  DOCK_LIMIT_DISK_GIB: limit(defaultLimits.organization.diskGiB),
  DOCK_LIMIT_STORED_GIB: limit(defaultLimits.organization.storedGiB),
  DOCK_LIMIT_SNAPSHOTS: limit(defaultLimits.organization.snapshots),
  DOCK_LIMIT_ENVIRONMENTS: limit(defaultLimits.organization.environments),
  DOCK_LIMIT_REPOSITORIES: limit(defaultLimits.organization.repositories),
  DOCK_LIMIT_TEMPLATES: limit(defaultLimits.organization.templates),
  DOCK_LIMIT_ORGANIZATIONS: limit(defaultLimits.organizationsPerPerson),
  DOCK_HOST_LOST_AFTER_SECONDS: z.coerce.number().int().min(60).max(86_400).default(300),
  DOCK_CPU_OVERCOMMIT: overcommit.default(128),
  DOCK_MEMORY_OVERCOMMIT: overcommit.default(24),
})

export type Config = {
  port: number
  bind: string
  /** File descriptors of listening sockets inherited from the supervisor. Undefined: this process binds its own. */
  listening: { publicFd: number | undefined; rootFd: number | undefined }
  controlDir: string
  databaseUrl: string
  /** The connection pool. PostgreSQL cancels a statement after `statementTimeoutMs`; 0 means no timeout. */
  database: { connections: number; statementTimeoutMs: number }
  /** Public URL of the API, without a trailing slash. */
  apiUrl: string
  appUrl: string
  defaultImage: string
  admin: { email: string; password: string | undefined }
  /** In lower case. */
  adminEmails: string[]
  signUp: SignUpPolicy
  social: SocialLogins
  /** The GitHub App whose webhooks start Runs. Null: an instance admin makes it in the dashboard. */
  githubApp: AppSettings | null
  /** Base URLs of the git providers. Set whether or not sign-in with them is configured. */
  gitServers: GitServers
  /** Base URLs of the providers of models, by provider. */
  modelServers: Readonly<Record<KeyProvider, string>>
  /** Sign-in with the hosted assistant's provider; undefined: off. */
  chatgpt: DeviceFlowSettings | undefined
  authSecret: string | undefined
  /** Entries of the key ring; undefined: the generated file. */
  secretKeys: string | undefined
  /** Object store of durable copies. Undefined: a folder in the data folder. */
  objectStoreUrl: string | undefined
  /** Disk space that copies in the folder leave free, because the database may be on the same disk. */
  objectReserveBytes: number
  copies: CopySettings
  /** Store of the rate limit counters. Undefined: each control plane counts in its own memory. */
  redisUrl: string | undefined
  /** Proxies whose `X-Forwarded-For` is trusted. */
  trustedProxies: string[]
  smtpUrl: string | undefined
  mailFrom: string
  /** Recipient of messages from the contact form. */
  contactEmail: string
  /** True in development: webhooks may go to receivers on this machine, also by http and to any port. */
  allowLoopbackWebhooks: boolean
  /** Null: hosted ports are off. */
  portsDomain: PortsDomain | null
  /** The SSH gateway. `fd` is an inherited listening socket, which replaces the port. Null: it is off. */
  ssh: { host: string; port: number; fd: number | undefined } | null
  embeddedHost: boolean
  /** Undefined: the default port, or no metrics if that port is taken. */
  metricsPort: number | undefined
  /** Upper limit of a command's timeout. */
  execTimeoutSecondsMax: number
  /** Upper limit of the bytes of a Snapshot file in one response. */
  snapshotFileBytesMax: number
  /** True if an organization's plan decides whether it may start compute. If false, there are no plans. */
  billing: boolean
  /** The operator's plans. Undefined: there is no file of plans. */
  plans: PlanFile | undefined
  /** Undefined: nothing is paid through Stripe. */
  stripe: StripeSettings | undefined
  /** Default limits of an organization and of a person. */
  limits: InstanceLimits
  /** Time without a heartbeat after which a host counts as lost. Deletes and forced stops then proceed without it. */
  hostLostAfterMs: number
  placement: { cpuOvercommit: number; memoryOvercommit: number }
}

const everywhere = new Set(['0.0.0.0', '::', ''])

const addressUrl = (bind: string, listenPort: number): string => {
  const address = everywhere.has(bind) ? '127.0.0.1' : bind
  return `http://${address.includes(':') ? `[${address}]` : address}:${listenPort}`
}

const loopbackHost = /^(localhost|(.+\.)?localhost|127(\.\d+){3}|\[?::1\]?)$/
const isOnlyLocal = (bind: string, apiUrl: string): boolean =>
  loopbackHost.test(bind) && loopbackHost.test(new URL(apiUrl).hostname)

const withoutSlash = (url: string): string => url.replace(/\/+$/, '')

const gitServers = (values: z.output<typeof schema>): GitServers => ({
  github: withoutSlash(values.GITHUB_URL),
  gitlab: withoutSlash(values.GITLAB_URL),
})

const socialLogins = (values: z.output<typeof schema>): SocialLogins => {
  const login = (clientId: string | undefined, clientSecret: string | undefined, name: string) => {
    if (clientId !== undefined && clientSecret !== undefined) return { clientId, clientSecret }
    if (clientId !== undefined || clientSecret !== undefined)
      throw new Error(`${name}_CLIENT_ID and ${name}_CLIENT_SECRET: set both or neither`)
    return undefined
  }
  const github = login(values.GITHUB_CLIENT_ID, values.GITHUB_CLIENT_SECRET, 'GITHUB')
  const gitlab = login(values.GITLAB_CLIENT_ID, values.GITLAB_CLIENT_SECRET, 'GITLAB')
  const google = login(values.GOOGLE_CLIENT_ID, values.GOOGLE_CLIENT_SECRET, 'GOOGLE')
  return {
    ...(github ? { github: { ...github, url: gitServers(values).github } } : {}),
    ...(gitlab ? { gitlab: { ...gitlab, url: gitServers(values).gitlab } } : {}),
    ...(google ? { google } : {}),
  }
}

/** A key in one line has `\\n` for its line breaks. */
const privateKey = (text: string): string => {
  const pem = text.replaceAll('\\n', '\n')
  try {
    createPrivateKey(pem)
  } catch {
    throw new Error('GITHUB_APP_PRIVATE_KEY: must be a private key in PEM format')
  }
  return pem
}

const githubApp = (values: z.output<typeof schema>): AppSettings | null => {
  const {
    GITHUB_APP_ID: appId,
    GITHUB_APP_SLUG: slug,
    GITHUB_APP_PRIVATE_KEY: key,
    GITHUB_APP_WEBHOOK_SECRET: webhookSecret,
    GITHUB_APP_CLIENT_ID: clientId,
    GITHUB_APP_CLIENT_SECRET: clientSecret,
  } = values
  if (Boolean(clientId) !== Boolean(clientSecret))
    throw new Error('GITHUB_APP_CLIENT_ID and GITHUB_APP_CLIENT_SECRET: set both or neither')
  if (appId && slug && key && webhookSecret)
    return {
      ...{ appId, slug, privateKey: privateKey(key), webhookSecret },
      oauth: clientId && clientSecret ? { clientId, clientSecret } : null,
    }
  if (appId || slug || key || webhookSecret || clientId)
    throw new Error(
      'GITHUB_APP_ID, GITHUB_APP_SLUG, GITHUB_APP_PRIVATE_KEY and GITHUB_APP_WEBHOOK_SECRET: set all or none',
    )
  return null
}

const deviceFlow = (values: z.output<typeof schema>): DeviceFlowSettings | undefined => {
  const [clientId, deviceUrl, tokenUrl] = [
    values.CHATGPT_CLIENT_ID,
    values.CHATGPT_DEVICE_URL,
    values.CHATGPT_TOKEN_URL,
  ]
  if (clientId !== undefined && deviceUrl !== undefined && tokenUrl !== undefined)
    return { clientId, deviceUrl, tokenUrl, scope: values.CHATGPT_SCOPE }
  if (clientId !== undefined || deviceUrl !== undefined || tokenUrl !== undefined)
    throw new Error('CHATGPT_CLIENT_ID, CHATGPT_DEVICE_URL and CHATGPT_TOKEN_URL: set all or none')
  return undefined
}

const readStripeSettings = (values: z.output<typeof schema>): StripeSettings | undefined => {
  const {
    STRIPE_SECRET_KEY: secretKey,
    STRIPE_WEBHOOK_SECRET: webhookSecret,
    STRIPE_PRICE: price,
    STRIPE_METER: meter,
  } = values
  if (secretKey && webhookSecret && price && meter) return { secretKey, webhookSecret, price, meter }
  if (secretKey || webhookSecret || price || meter)
    throw new Error(
      'STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET, STRIPE_PRICE and STRIPE_METER: set all or none',
    )
  return undefined
}

/** Clients reach the gateway at the host name of the API. */
const sshSettings = (values: z.output<typeof schema>, apiUrl: string): Config['ssh'] => {
  const { DOCK_SSH_PORT: sshPort, DOCK_SSH_LISTEN_FD: fd } = values
  if (sshPort === 'off') return null
  return { host: new URL(apiUrl).hostname.replace(/^\[|\]$/g, ''), port: sshPort, fd }
}

const instanceLimits = (values: z.output<typeof schema>): InstanceLimits => ({
  organization: {
    docks: values.DOCK_LIMIT_DOCKS,
    cpus: values.DOCK_LIMIT_CPUS,
    memoryMiB: values.DOCK_LIMIT_MEMORY_MIB,
    diskGiB: values.DOCK_LIMIT_DISK_GIB,
    storedGiB: values.DOCK_LIMIT_STORED_GIB,
    snapshots: values.DOCK_LIMIT_SNAPSHOTS,
    environments: values.DOCK_LIMIT_ENVIRONMENTS,
    repositories: values.DOCK_LIMIT_REPOSITORIES,
    templates: values.DOCK_LIMIT_TEMPLATES,
  },
  organizationsPerPerson: values.DOCK_LIMIT_ORGANIZATIONS,
})

/**
 * Reads and validates the environment. An empty value counts as unset. Throws an error that names the variable to
 * correct.
 */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const result = schema.safeParse(given)
  if (!result.success) {
    throw new Error(
      result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('\n'),
    )
  }
  const values = result.data
  const apiUrl = (values.DOCK_PUBLIC_URL ?? addressUrl(values.DOCK_BIND, values.PORT)).replace(/\/+$/, '')
  const appUrl = (values.DOCK_APP_URL ?? apiUrl).replace(/\/+$/, '')
  const allowLoopbackWebhooks = values.DOCK_ALLOW_INSECURE_WEBHOOKS === 'loopback'
  if (allowLoopbackWebhooks && !isOnlyLocal(values.DOCK_BIND, apiUrl))
    throw new Error(
      'DOCK_ALLOW_INSECURE_WEBHOOKS: is for development on one machine; DOCK_BIND and DOCK_PUBLIC_URL must be loopback addresses',
    )
  return {
    port: values.PORT,
    bind: values.DOCK_BIND,
    listening: { publicFd: values.DOCK_LISTEN_FD, rootFd: values.DOCK_ROOT_LISTEN_FD },
    controlDir: resolve(values.DOCK_CONTROL_DIR),
    databaseUrl: values.DATABASE_URL,
    database: {
      connections: values.DOCK_DATABASE_CONNECTIONS,
      statementTimeoutMs: values.DOCK_DATABASE_TIMEOUT_SECONDS * 1000,
    },
    apiUrl,
    appUrl,
    defaultImage: values.DEFAULT_IMAGE,
    admin: { email: values.DOCK_ADMIN_EMAIL, password: values.DOCK_ADMIN_PASSWORD },
    adminEmails: values.INSTANCE_ADMIN_EMAILS.map((email) => email.toLowerCase()),
    signUp: values.DOCK_SIGNUP,
    social: socialLogins(values),
    githubApp: githubApp(values),
    gitServers: gitServers(values),
    modelServers: {
      anthropic: values.MODEL_ANTHROPIC_URL,
      openai: values.MODEL_OPENAI_URL,
      openrouter: values.MODEL_OPENROUTER_URL,
      opencode: values.MODEL_OPENCODE_URL,
    },
    chatgpt: deviceFlow(values),
    authSecret: values.DOCK_AUTH_SECRET,
    secretKeys: values.DOCK_SECRET_KEYS,
    objectStoreUrl: values.OBJECT_STORE_URL,
    objectReserveBytes: values.DOCK_OBJECTS_RESERVE_MIB * 2 ** 20,
    copies: readCopySettings(values),
    redisUrl: values.REDIS_URL,
    trustedProxies: values.DOCK_TRUSTED_PROXIES,
    smtpUrl: values.SMTP_URL,
    mailFrom: values.DOCK_MAIL_FROM,
    contactEmail: values.DOCK_CONTACT_EMAIL ?? values.DOCK_ADMIN_EMAIL,
    allowLoopbackWebhooks,
    portsDomain: readPortsDomain(values.PORTS_DOMAIN, { apiUrl, appUrl }),
    ssh: sshSettings(values, apiUrl),
    embeddedHost: values.DOCK_EMBEDDED_HOST === 'on',
    metricsPort: values.DOCK_METRICS_PORT,
    execTimeoutSecondsMax: values.DOCK_EXEC_TIMEOUT_MAX_SECONDS,
    snapshotFileBytesMax: values.DOCK_SNAPSHOT_FILE_MAX_MIB * 2 ** 20,
    billing: values.DOCK_BILLING === 'on',
    plans: values.DOCK_PLANS === undefined ? undefined : parsePlans(values.DOCK_PLANS),
    stripe: readStripeSettings(values),
    limits: instanceLimits(values),
    hostLostAfterMs: values.DOCK_HOST_LOST_AFTER_SECONDS * 1000,
    placement: {
      cpuOvercommit: values.DOCK_CPU_OVERCOMMIT,
      memoryOvercommit: values.DOCK_MEMORY_OVERCOMMIT,
    },
  }
}
