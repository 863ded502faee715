import * as z from 'zod'
import { count, textOfBytes, timestamp, uuid } from '../fields.ts'
import { limits } from '../limits.ts'
import { secretFilePath } from '../secret-file-path.ts'

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

export const providerConnection = z.strictObject({ connected: z.boolean() })
export const environmentConnections = z.strictObject({
  github: providerConnection,
  gitlab: providerConnection,
})
/** A secret file without its contents. */
export const environmentFile = z.strictObject({ path: z.string(), size: count })

/** A secret file as callers write it. */
export const secretFile = z.strictObject({
  path: secretFilePath,
  contents: textOfBytes(0, limits.environment.fileBytesMax),
})

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
  connections: environmentConnections,
  varNames: z.array(z.string()),
  files: z.array(environmentFile),
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

/** A version with the names of what it contains and what it passes. Extension: not part of the specification. */
export const describedVersion = environmentVersion.extend({
  varNames: z.array(z.string()),
  files: z.array(environmentFile),
  repos: z.array(environmentRepository),
  safeForThirdParties: z.boolean(),
  passGithub: z.boolean(),
  passSecrets: z.boolean(),
  passDockCredentials: z.boolean(),
  passAgentsCredentials: z.boolean(),
})
export type DescribedVersion = z.output<typeof describedVersion>

export const versionPage = z.strictObject({
  versions: z.array(describedVersion),
  /** Send it as `before` to get older versions; null if there are none. */
  nextBefore: z.int().min(1).nullable(),
})
export type VersionPage = z.output<typeof versionPage>

export const revealedSecretFile = environmentFile.extend({ contents: z.string() })

export const revealedSecrets = z.strictObject({
  envContents: z.string(),
  secretFiles: z.array(revealedSecretFile),
})
export type RevealedSecrets = z.output<typeof revealedSecrets>
