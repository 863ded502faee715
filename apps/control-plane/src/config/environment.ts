/** The environment variables of the control plane: their names, forms and default values. */
import * as z from 'zod'
import { isNetwork } from '../client-address.ts'
import { defaultLimits } from '../modules/limits/index.ts'
import { type CopyTimeName, copyTimeNames } from '../modules/storage/index.ts'
import { isOwnHost } from '../modules/webhooks/index.ts'

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

const imageName = z.string().regex(/^[a-z0-9][a-z0-9.-]{0,39}$/)

const schema = z.object({
  PORT: port.default(8080),
  DOCK_BIND: z.string().default('127.0.0.1'),
  DOCK_LISTEN_FD: z.coerce.number().int().min(3).optional(),
  DOCK_ROOT_LISTEN_FD: z.coerce.number().int().min(3).optional(),
  DOCK_CONTROL_DIR: z.string().default('.dock/control'),
  DATABASE_URL: z.string('must name a PostgreSQL database; script/server sets it'),
  DOCK_DATABASE_CONNECTIONS: z.coerce.number().int().min(2).max(500).default(10),
  DOCK_PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
  DOCK_APP_URL: z.url({ protocol: /^https?$/ }).optional(),
  DEFAULT_IMAGE: imageName.default('ubuntu-24.04'),
  DOCK_RUN_IMAGE: imageName.optional(),
  DOCK_FAST_RUNS: z.enum(['on', 'off']).default('on'),
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
  DOCK_AUTH_SECRET: z.string().min(32).optional(),
  DOCK_SECRET_KEYS: z.string().optional(),
  SMTP_URL: z.url({ protocol: /^smtps?$/ }).optional(),
  DOCK_CONTACT_EMAIL: z.email().optional(),
  DOCK_ALLOW_INSECURE_WEBHOOKS: z.literal('loopback').optional(),
  DOCK_WEBHOOK_HOSTS: commaList
    .refine(
      (list) => list.every(isOwnHost),
      'must be networks such as 10.0.0.0/8, and hosts such as hooks.corp:8443',
    )
    .default([]),
  DOCK_MAIL_FROM: z.email().default('dock@dock.localhost'),
  OBJECT_STORE_URL: z.string().optional(),
  ...copyTimes,
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
  DOCK_LIMIT_ORGANIZATIONS: limit(defaultLimits.organizationsPerPerson),
  DOCK_HOST_LOST_AFTER_SECONDS: z.coerce.number().int().min(60).max(86_400).default(300),
  DOCK_CPU_OVERCOMMIT: overcommit.default(128),
  DOCK_MEMORY_OVERCOMMIT: overcommit.default(24),
})

export type Environment = z.output<typeof schema>

/**
 * Reads the environment variables. An empty value counts as unset. Throws an error that names each variable to correct.
 */
export function readEnvironment(environment: NodeJS.ProcessEnv): Environment {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const result = schema.safeParse(given)
  if (result.success) return result.data
  throw new Error(result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('\n'))
}
