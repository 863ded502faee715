/** Row types of the keys that secrets are sealed with; the columns are explained in `004_sealing.sql`. */

export type SealingTables = {
  data_keys: {
    id: string
    owner_kind: 'organization' | 'person'
    owner_id: string
    ring_key_id: string
    wrapped: Buffer
    retired_at: Date | null
    created_at: Date
  }
}
