/** Routes of the caller's own account. */
import type { Handlers } from '../../routing/handler.ts'
import { listConnections, removeConnection } from './connections.ts'
import { type AccountContext, readProfile, updateProfile } from './profile.ts'
import { createReadMe } from './read-me.ts'
import { listUnverifiedPeople, vouchForAddress } from './unverified-people.ts'

export function accountRoutes(context: AccountContext): Handlers {
  const readMe = createReadMe(context.db)
  return {
    readMe: ({ caller }) => readMe(caller),
    readProfile: ({ caller }) => readProfile(context.db, caller),
    updateProfile: ({ caller, body }) => updateProfile(context, caller, body),
    listConnections: ({ caller }) => listConnections(context.db, caller),
    removeConnection: ({ caller, params }) => removeConnection(context, caller, params.id),
    listUnverifiedPeople: () => listUnverifiedPeople(context.db),
    vouchForAddress: ({ caller, params }) => vouchForAddress(context, caller, params.id),
  }
}
