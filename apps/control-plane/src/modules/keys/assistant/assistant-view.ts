import type { AssistantConnection } from '@dock/contract'
import type { ConnectionRow } from './assistant-store.ts'

/** What the audit log names for a connection. */
export const assistantTarget = { type: 'provider', id: 'chatgpt' }

export const notConnected: AssistantConnection = {
  connected: false,
  status: null,
  email: null,
  planType: null,
  updatedAt: null,
}

/** Returns the API view of a connection, without its tokens. */
export function connectionView(row: ConnectionRow | undefined, now: Date): AssistantConnection {
  return row === undefined
    ? notConnected
    : {
        connected: true,
        status: row.expires_at !== null && row.expires_at <= now ? 'expired' : 'active',
        email: row.email,
        planType: row.plan_type,
        updatedAt: row.updated_at.toISOString(),
      }
}
