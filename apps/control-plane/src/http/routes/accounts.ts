/** Routes of the caller. */
import type { Db } from '../../database/database.ts'
import { readMe } from '../../modules/accounts/index.ts'
import type { Handlers } from '../handler.ts'

export const accountHandlers = (db: Db): Handlers => ({
  readMe: ({ caller }) => readMe(db, caller),
})
