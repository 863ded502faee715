import type { ApiKey } from '@dock/contract'
import type { ApiKeyRow } from './api-key-store.ts'

const iso = (at: Date | null): string | null => at?.toISOString() ?? null

/** Returns the API view of a key, without its hash. */
export function apiKeyView(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    name: row.name,
    keyPrefix: row.key_prefix,
    expiresAt: iso(row.expires_at),
    revokedAt: iso(row.revoked_at),
    lastUsedAt: iso(row.last_used_at),
    createdAt: row.created_at.toISOString(),
  }
}
