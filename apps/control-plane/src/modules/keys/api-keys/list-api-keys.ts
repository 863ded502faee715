import type { ApiKey } from '@dock/contract'
import type { Db } from '../../../database/database.ts'
import type { Caller } from '../../accounts/index.ts'
import { listApiKeyRows } from './api-key-store.ts'
import { apiKeyView } from './api-key-view.ts'

/** Returns the caller's keys including revoked keys, newest first. */
export async function listApiKeys(db: Db, caller: Caller): Promise<ApiKey[]> {
  return (await listApiKeyRows(db, caller.userId)).map(apiKeyView)
}
