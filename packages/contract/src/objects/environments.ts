import * as z from 'zod'
import { count, timestamp, uuid } from '../fields.ts'

export const secretsAccess = z.enum(['members', 'admins'])
export type SecretsAccess = z.output<typeof secretsAccess>
export const gitProvider = z.enum(['github', 'gitlab'])
export type GitProvider = z.output<typeof gitProvider>

export const environmentRepository = z.strictObject({
  id: uuid,
  provider: gitProvider,
  repositoryId: z.string(),
  fullName: z.string(),
  baseBranch: z.string().nullable(),
  hasSetupScript: z.boolean(),
})
export type EnvironmentRepository = z.output<typeof environmentRepository>

const connection = z.strictObject({ connected: z.boolean() })

/** Contains the names of variables, never their values. */
export const environment = z.strictObject({
  id: uuid,
  organizationId: uuid,
  name: z.string(),
  isDefault: z.boolean(),
  currentVersion: z.int().min(1),
  secretsAccess,
  safeForThirdParties: z.boolean(),
  passGithub: z.boolean(),
  passSecrets: z.boolean(),
  passDockCredentials: z.boolean(),
  passAgentsCredentials: z.boolean(),
  connections: z.strictObject({ github: connection, gitlab: connection }),
  varNames: z.array(z.string()),
  files: z.array(z.strictObject({ path: z.string(), size: count })),
  repos: z.array(environmentRepository),
  createdAt: timestamp,
  updatedAt: timestamp,
})
export type Environment = z.output<typeof environment>

export const environmentVersion = z.strictObject({
  version: z.int().min(1),
  createdAt: timestamp,
  dockCount: count,
})
export type EnvironmentVersion = z.output<typeof environmentVersion>

export const revealedSecrets = z.strictObject({
  envContents: z.string(),
  secretFiles: z.array(z.strictObject({ path: z.string(), size: count, contents: z.string() })),
})
export type RevealedSecrets = z.output<typeof revealedSecrets>
