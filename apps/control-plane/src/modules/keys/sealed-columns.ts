/** The sealed columns of this module, which a rotation of the sealing keys must rewrite. */
import type { SealedColumn } from '../../sealing/index.ts'
import { assistantTokensColumn, deviceCodeColumn } from './assistant/assistant-store.ts'
import { providerKeyColumn } from './provider-keys/provider-key-store.ts'
import { sshHostKeyColumn } from './ssh-keys/ssh-host-keys.ts'

export const keySealedColumns: readonly SealedColumn[] = [
  providerKeyColumn,
  assistantTokensColumn,
  deviceCodeColumn,
  sshHostKeyColumn,
]
