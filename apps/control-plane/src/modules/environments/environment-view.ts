import type { Environment } from '@dock/contract'
import type { ListedEnvironment } from './environment-store.ts'

/** Returns the API view of an Environment, without the values of variables and the contents of files. */
export function viewEnvironment(row: ListedEnvironment): Environment {
  return {
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
      github: { connected: row.connected.includes('github') },
      gitlab: { connected: row.connected.includes('gitlab') },
    },
    varNames: row.varNames,
    files: row.files,
    repos: row.repositories,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  }
}
