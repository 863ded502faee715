import type { ApiKey } from '@dock/contract'
import type { Db } from '../../../database/database.ts'
import type { Caller } from '../../accounts/index.ts'
import { listApiKeyRows } from '../api-key-store.ts'
import { apiKeyView } from '../api-key-view.ts'

/** The caller's keys, revoked ones included, newest first. */
export async function listApiKeys(db: Db, caller: Caller): Promise<ApiKey[]> {
  return (await listApiKeyRows(db, caller.userId)).map(apiKeyView)
}
