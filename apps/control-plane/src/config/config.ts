/** Everything an operator can set for the control plane, read once from the environment. */
import { resolve } from 'node:path'
import type { KeyProvider } from '@dock/contract'
import type { StripeSettings } from '../gateways/stripe/index.ts'
import type { SignUpPolicy, SocialLogins } from '../modules/accounts/index.ts'
import { type PlanFile, parsePlans } from '../modules/billing/index.ts'
import type { GitServers } from '../modules/environments/index.ts'
import type { AppSettings } from '../modules/github/index.ts'
import type { DeviceFlowSettings } from '../modules/keys/index.ts'
import { defaultLimits, type InstanceLimits } from '../modules/limits/index.ts'
import { type PortsDomain, readPortsDomain } from '../modules/ports/index.ts'
import { type CopySettings, readCopySettings } from '../modules/storage/index.ts'
import { type Environment, readEnvironment } from './environment.ts'
import {
  deviceFlow,
  githubApp,
  gitServers,
  modelServers,
  socialLogins,
  stripeSettings,
  withoutSlash,
} from './other-services.ts'

export type Config = {
  port: number
  bind: string
  /** File descriptors of listening sockets inherited from the supervisor. Undefined: this process binds its own. */
  listening: { publicFd: number | undefined; rootFd: number | undefined }
  controlDir: string
  databaseUrl: string
  /** The largest number of connections to the database. */
  databaseConnections: number
  /** Public URL of the API, without a trailing slash. */
  apiUrl: string
  appUrl: string
  defaultImage: string
  /** The image of the Docks of Runs. Null: the default image. */
  runImage: string | null
  /** False: Runs with the target `fast` get no machine. */
  fastRuns: boolean
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
  /** Networks and hosts of the operator that webhooks may reach too. */
  webhookHosts: string[]
  /** Null: hosted ports are off. */
  portsDomain: PortsDomain | null
  /** The SSH gateway. `fd` is an inherited listening socket, which replaces the port. Null: it is off. */
  ssh: { host: string; port: number; fd: number | undefined } | null
  embeddedHost: boolean
  /** Undefined: the default port, or no metrics if that port is taken. */
  metricsPort: number | undefined
  /** Upper limit of a command's timeout. */
  execTimeoutSecondsMax: number
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

/** Clients reach the gateway at the host name of the API. */
const sshSettings = (values: Environment, apiUrl: string): Config['ssh'] => {
  const { DOCK_SSH_PORT: sshPort, DOCK_SSH_LISTEN_FD: fd } = values
  if (sshPort === 'off') return null
  return { host: new URL(apiUrl).hostname.replace(/^\[|\]$/g, ''), port: sshPort, fd }
}

const instanceLimits = (values: Environment): InstanceLimits => ({
  organization: {
    ...defaultLimits.organization,
    docks: values.DOCK_LIMIT_DOCKS,
    cpus: values.DOCK_LIMIT_CPUS,
    memoryMiB: values.DOCK_LIMIT_MEMORY_MIB,
    diskGiB: values.DOCK_LIMIT_DISK_GIB,
    storedGiB: values.DOCK_LIMIT_STORED_GIB,
    snapshots: values.DOCK_LIMIT_SNAPSHOTS,
  },
  organizationsPerPerson: values.DOCK_LIMIT_ORGANIZATIONS,
})

/** Reads and validates the environment. Throws an error that names the variable to correct. */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const values = readEnvironment(environment)
  const apiUrl = withoutSlash(values.DOCK_PUBLIC_URL ?? addressUrl(values.DOCK_BIND, values.PORT))
  const appUrl = withoutSlash(values.DOCK_APP_URL ?? apiUrl)
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
    databaseConnections: values.DOCK_DATABASE_CONNECTIONS,
    apiUrl,
    appUrl,
    defaultImage: values.DEFAULT_IMAGE,
    runImage: values.DOCK_RUN_IMAGE ?? null,
    fastRuns: values.DOCK_FAST_RUNS === 'on',
    admin: { email: values.DOCK_ADMIN_EMAIL, password: values.DOCK_ADMIN_PASSWORD },
    adminEmails: values.INSTANCE_ADMIN_EMAILS.map((email) => email.toLowerCase()),
    signUp: values.DOCK_SIGNUP,
    social: socialLogins(values),
    githubApp: githubApp(values),
    gitServers: gitServers(values),
    modelServers: modelServers(values),
    chatgpt: deviceFlow(values),
    authSecret: values.DOCK_AUTH_SECRET,
    secretKeys: values.DOCK_SECRET_KEYS,
    objectStoreUrl: values.OBJECT_STORE_URL,
    copies: readCopySettings(values),
    redisUrl: values.REDIS_URL,
    trustedProxies: values.DOCK_TRUSTED_PROXIES,
    smtpUrl: values.SMTP_URL,
    mailFrom: values.DOCK_MAIL_FROM,
    contactEmail: values.DOCK_CONTACT_EMAIL ?? values.DOCK_ADMIN_EMAIL,
    allowLoopbackWebhooks,
    webhookHosts: values.DOCK_WEBHOOK_HOSTS,
    portsDomain: readPortsDomain(values.PORTS_DOMAIN, { apiUrl, appUrl }),
    ssh: sshSettings(values, apiUrl),
    embeddedHost: values.DOCK_EMBEDDED_HOST === 'on',
    metricsPort: values.DOCK_METRICS_PORT,
    execTimeoutSecondsMax: values.DOCK_EXEC_TIMEOUT_MAX_SECONDS,
    billing: values.DOCK_BILLING === 'on',
    plans: values.DOCK_PLANS === undefined ? undefined : parsePlans(values.DOCK_PLANS),
    stripe: stripeSettings(values),
    limits: instanceLimits(values),
    hostLostAfterMs: values.DOCK_HOST_LOST_AFTER_SECONDS * 1000,
    placement: {
      cpuOvercommit: values.DOCK_CPU_OVERCOMMIT,
      memoryOvercommit: values.DOCK_MEMORY_OVERCOMMIT,
    },
  }
}
