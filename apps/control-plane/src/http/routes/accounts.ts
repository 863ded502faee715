/** Routes of the caller, their keys and their organizations. */
import type { Db } from '../../database/database.ts'
import { readMe } from '../../modules/accounts/index.ts'
import { createApiKey, type KeysContext, listApiKeys, revokeApiKey } from '../../modules/keys/index.ts'
import {
  createOrganization,
  listOrganizations,
  listWorkspaces,
  readOrganization,
} from '../../modules/organizations/index.ts'
import type { Handlers } from '../handler.ts'

export const accountHandlers = (db: Db): Handlers => ({
  readMe: ({ caller }) => readMe(db, caller),
})

export const keyHandlers = (context: KeysContext): Handlers => ({
  createApiKey: ({ caller, body }) => createApiKey(context, caller, body),
  listApiKeys: ({ caller }) => listApiKeys(context.db, caller),
  revokeApiKey: ({ caller, params }) => revokeApiKey(context, caller, params.id),
})

export const organizationHandlers = (db: Db): Handlers => ({
  createOrganization: ({ caller, body }) => createOrganization(db, caller, body),
  listOrganizations: ({ caller }) => listOrganizations(db, caller),
  readOrganization: ({ caller }) => readOrganization(db, caller),
  listWorkspaces: ({ caller }) => listWorkspaces(db, caller),
})
