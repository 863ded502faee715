/** Row types of data keys, which seal secrets. `004_sealing.sql` explains the columns. */

export type SealingTables = {
  data_keys: {
    id: string
    owner_kind: 'organization' | 'person' | 'instance'
    owner_id: string
    ring_key_id: string
    wrapped: Buffer
    retired_at: Date | null
    created_at: Date
  }
}
