import * as z from 'zod'
import { timestamp, uuid } from '../fields.ts'

export const apiKey = z.strictObject({
  id: uuid,
  name: z.string(),
  keyPrefix: z.string(),
  expiresAt: timestamp.nullable(),
  revokedAt: timestamp.nullable(),
  lastUsedAt: timestamp.nullable(),
  createdAt: timestamp,
})
export type ApiKey = z.output<typeof apiKey>

/** Returned only by create: `apiKey` is the raw key. */
export const createdApiKey = apiKey.extend({ apiKey: z.string() })
export type CreatedApiKey = z.output<typeof createdApiKey>

export const sshKey = z.strictObject({
  id: uuid,
  name: z.string(),
  publicKey: z.string(),
  fingerprint: z.string().startsWith('SHA256:'),
  lastUsedAt: timestamp.nullable(),
  createdAt: timestamp,
})
export type SshKey = z.output<typeof sshKey>

/** What to sign with `ssh-keygen -Y sign`, to prove that one has the private key. */
export const sshKeyChallenge = z.strictObject({
  challenge: z.string(),
  namespace: z.string(),
  expiresAt: timestamp,
})
export type SshKeyChallenge = z.output<typeof sshKeyChallenge>

export const sshKeyProof = z.strictObject({
  sshKeyId: uuid,
  provedAt: timestamp.nullable(),
  /** Set if the key was added with an API key that expires. */
  expiresAt: timestamp.nullable(),
})
export type SshKeyProof = z.output<typeof sshKeyProof>

export const keyProviders = ['anthropic', 'openai', 'openrouter', 'opencode'] as const
export type KeyProvider = (typeof keyProviders)[number]
export const keyProvider = z.enum(keyProviders)

export const providerKeyStatus = z.strictObject({
  provider: keyProvider,
  configured: z.boolean(),
  updatedAt: timestamp.nullable(),
})
export type ProviderKeyStatus = z.output<typeof providerKeyStatus>

export const assistantStatus = z.enum(['active', 'expired'])

export const assistantConnection = z.strictObject({
  connected: z.boolean(),
  status: assistantStatus.nullable(),
  email: z.string().nullable(),
  planType: z.string().nullable(),
  updatedAt: timestamp.nullable(),
})
export type AssistantConnection = z.output<typeof assistantConnection>

export const deviceSignIn = z.strictObject({
  userCode: z.string(),
  verificationUrl: z.string(),
  intervalSeconds: z.int().min(1),
  expiresAt: timestamp,
})
export type DeviceSignIn = z.output<typeof deviceSignIn>

export const deviceSignInPending = z.strictObject({ state: z.literal('pending') })
export const deviceSignInConnected = assistantConnection.extend({ state: z.literal('connected') })

export const deviceSignInProgress = z.discriminatedUnion('state', [
  deviceSignInPending,
  deviceSignInConnected,
])
export type DeviceSignInProgress = z.output<typeof deviceSignInProgress>
