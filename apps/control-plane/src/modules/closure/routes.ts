/** Routes that close, reopen and erase accounts. */
import type { Handlers } from '../../routing/handler.ts'
import { closeAccount } from './close-account.ts'
import type { ClosureContext } from './closure-context.ts'
import { eraseAccount } from './erase-account.ts'
import { reopenAccount } from './reopen-account.ts'

export function closureRoutes(context: ClosureContext): Handlers {
  return {
    closeAccount: ({ caller }) => closeAccount(context, caller),
    reopenAccount: ({ caller }) => reopenAccount(context, caller),
    eraseAccount: ({ caller, body }) => eraseAccount(context, caller, body),
  }
}
