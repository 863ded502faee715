/** Every column of the database that holds sealed values, as the modules declare them. */
import { loginGrantColumn } from './modules/accounts/index.ts'
import { copyKeysColumn } from './modules/copies/index.ts'
import { dockSealedColumns } from './modules/docks/index.ts'
import { environmentSealedColumn } from './modules/environments/index.ts'
import { keySealedColumns } from './modules/keys/index.ts'
import type { SealedColumn } from './sealing/index.ts'

export const sealedColumns: readonly SealedColumn[] = [
  copyKeysColumn,
  environmentSealedColumn,
  loginGrantColumn,
  ...dockSealedColumns,
  ...keySealedColumns,
]
