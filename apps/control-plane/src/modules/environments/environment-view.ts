import type { Environment } from '@dock/contract'
import type { Db } from '../../database/database.ts'
import { type EnvironmentRow, linkedProviders } from './environment-store.ts'

const view = (row: EnvironmentRow, linked: ReadonlySet<string>): Environment => ({
  id: row.id,
  organizationId: row.organizationId,
  name: row.name,
  isDefault: row.isDefault,
  currentVersion: row.currentVersion,
  secretsAccess: row.secretsAccess,
  safeForThirdParties: row.safeForThirdParties,
  passGithub: row.passGithub,
  passSecrets: row.passSecrets,
  passDockCredentials: row.passDockCredentials,
  passAgentsCredentials: row.passAgentsCredentials,
  connections: {
    github: { connected: linked.has('github') },
    gitlab: { connected: linked.has('gitlab') },
  },
  varNames: row.varNames,
  files: row.files,
  repos: row.repositories,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
})

/** Environments of one organization as callers see them: values of variables and contents of files are never part of it. */
export const viewEnvironments = async (db: Db, rows: readonly EnvironmentRow[]): Promise<Environment[]> => {
  const organizationId = rows[0]?.organizationId
  if (organizationId === undefined) return []
  const linked = await linkedProviders(db, organizationId)
  return rows.map((row) => view(row, linked))
}

export const viewEnvironment = async (db: Db, row: EnvironmentRow): Promise<Environment> =>
  view(row, await linkedProviders(db, row.organizationId))
