/** Tables of terminal tickets and exposed ports. */
import type { Generated } from 'kysely'

export type ConnectionTables = {
  terminal_tickets: {
    hash: Buffer
    dock_id: string
    organization_id: string
    user_id: string
    credential_id: string
    expires_at: Date
    process_id: string | null
    process_offset: Generated<string>
  }
  dock_ports: {
    dock_id: string
    organization_id: string
    port: number
    label: string
    created_at: Date
    keeps_host: Generated<boolean>
  }
}
