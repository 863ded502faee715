/** Routes of the caller's own account. */
import {
  type AccountContext,
  createReadMe,
  listConnections,
  listUnverifiedPeople,
  readProfile,
  removeConnection,
  updateProfile,
  vouchForAddress,
} from '../../modules/accounts/index.ts'
import { readRetention, updateRetention } from '../../modules/organizations/index.ts'
import type { Handlers } from '../../routing/handler.ts'

export function accountHandlers(context: AccountContext): Handlers {
  const readMe = createReadMe(context.db)
  return {
    readMe: ({ caller }) => readMe(caller),
    readProfile: ({ caller }) => readProfile(context.db, caller),
    updateProfile: ({ caller, body }) => updateProfile(context, caller, body),
    listConnections: ({ caller }) => listConnections(context.db, caller),
    removeConnection: ({ caller, params }) => removeConnection(context.db, caller, params.id),
    listUnverifiedPeople: () => listUnverifiedPeople(context.db),
    vouchForAddress: ({ caller, params }) => vouchForAddress(context, caller, params.id),
    readRetention: ({ caller }) => readRetention(context.db, caller),
    updateRetention: ({ caller, body }) => updateRetention(context, caller, body),
  }
}
