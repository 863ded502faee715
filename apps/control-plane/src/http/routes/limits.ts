/** Routes of organizations' limits; that only instance admins change them, the HTTP layer has checked. */
import type { Db } from '../../database/database.ts'
import { changeOrganizationLimits, type Limits, readOrganizationLimits } from '../../modules/limits/index.ts'
import type { Handlers } from '../handler.ts'

export function limitHandlers(context: { db: Db; defaults: Limits }): Handlers {
  return {
    readOrganizationLimits: ({ caller }) => readOrganizationLimits(context, caller.organizationId),
    changeOrganizationLimits: ({ params, body }) => changeOrganizationLimits(context, params.id, body),
  }
}
