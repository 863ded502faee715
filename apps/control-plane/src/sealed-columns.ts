/** Every database column that holds sealed values. Each is declared by the module that owns its table. */
import { loginGrantColumn } from './modules/accounts/index.ts'
import { dockSealedColumns } from './modules/docks/index.ts'
import { environmentSealedColumn } from './modules/environments/index.ts'
import { githubSealedColumns } from './modules/github/index.ts'
import { keySealedColumns } from './modules/keys/index.ts'
import { runSealedColumn } from './modules/runs/index.ts'
import { copyKeysColumn } from './modules/storage/index.ts'
import { webhookSealedColumns } from './modules/webhooks/index.ts'
import type { SealedColumn } from './sealing/index.ts'

export const sealedColumns: readonly SealedColumn[] = [
  copyKeysColumn,
  environmentSealedColumn,
  loginGrantColumn,
  ...dockSealedColumns,
  ...githubSealedColumns,
  ...keySealedColumns,
  ...webhookSealedColumns,
  runSealedColumn,
]
