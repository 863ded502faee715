/** What the environment says of other services: git, sign-in, models and payment. Each is set as a whole or not at all. */
import { createPrivateKey } from 'node:crypto'
import type { KeyProvider } from '@dock/contract'
import type { StripeSettings } from '../gateways/stripe/index.ts'
import type { SocialLogins } from '../modules/accounts/index.ts'
import type { GitServers } from '../modules/environments/index.ts'
import type { AppSettings } from '../modules/github/index.ts'
import type { DeviceFlowSettings } from '../modules/keys/index.ts'
import type { Environment } from './environment.ts'

/** Returns a URL without the slashes at its end. */
export function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '')
}

/** Returns the base URLs of the git providers. */
export function gitServers(values: Environment): GitServers {
  return {
    github: withoutSlash(values.GITHUB_URL),
    gitlab: withoutSlash(values.GITLAB_URL),
  }
}

/** Returns the providers of sign-in that are configured. Throws if only a part of one is set. */
export function socialLogins(values: Environment): SocialLogins {
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

/** Returns the settings of the GitHub App, null if there are none. Throws if only a part is set. */
export function githubApp(values: Environment): AppSettings | null {
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
      appId,
      slug,
      privateKey: privateKey(key),
      webhookSecret,
      oauth: clientId && clientSecret ? { clientId, clientSecret } : null,
    }
  if (appId || slug || key || webhookSecret || clientId)
    throw new Error(
      'GITHUB_APP_ID, GITHUB_APP_SLUG, GITHUB_APP_PRIVATE_KEY and GITHUB_APP_WEBHOOK_SECRET: set all or none',
    )
  return null
}

/** What Dock asks of the assistant's provider: to know the person, and to renew its tokens. */
const assistantScope = 'openid profile email offline_access'

/** Returns the settings of the assistant's sign-in, undefined if it is off. Throws if only a part is set. */
export function deviceFlow(values: Environment): DeviceFlowSettings | undefined {
  const [clientId, deviceUrl, tokenUrl] = [
    values.CHATGPT_CLIENT_ID,
    values.CHATGPT_DEVICE_URL,
    values.CHATGPT_TOKEN_URL,
  ]
  if (clientId !== undefined && deviceUrl !== undefined && tokenUrl !== undefined)
    return { clientId, deviceUrl, tokenUrl, scope: assistantScope }
  if (clientId !== undefined || deviceUrl !== undefined || tokenUrl !== undefined)
    throw new Error('CHATGPT_CLIENT_ID, CHATGPT_DEVICE_URL and CHATGPT_TOKEN_URL: set all or none')
  return undefined
}

/** Returns the settings of Stripe, undefined if it is off. Throws if only a part is set. */
export function stripeSettings(values: Environment): StripeSettings | undefined {
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

/** Returns the base URL of each provider of models. */
export function modelServers(values: Environment): Readonly<Record<KeyProvider, string>> {
  return {
    anthropic: values.MODEL_ANTHROPIC_URL,
    openai: values.MODEL_OPENAI_URL,
    openrouter: values.MODEL_OPENROUTER_URL,
    opencode: values.MODEL_OPENCODE_URL,
  }
}
