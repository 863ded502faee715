/** Routes of keys: for the API. */
import { createApiKey, type KeysContext, listApiKeys, revokeApiKey } from '../../modules/keys/index.ts'
import type { Handlers } from '../handler.ts'

export const keyHandlers = (context: KeysContext): Handlers => ({
  createApiKey: ({ caller, body }) => createApiKey(context, caller, body),
  listApiKeys: ({ caller }) => listApiKeys(context.db, caller),
  revokeApiKey: ({ caller, params }) => revokeApiKey(context, caller, params.id),
})
