/** Routes that close, reopen and erase accounts. */
import {
  type ClosureContext,
  closeAccount,
  eraseAccount,
  reopenAccount,
} from '../../modules/closure/index.ts'
import type { Handlers } from '../../routing/handler.ts'

export function closureHandlers(context: ClosureContext): Handlers {
  return {
    closeAccount: ({ caller }) => closeAccount(context, caller),
    reopenAccount: ({ caller }) => reopenAccount(context, caller),
    eraseAccount: ({ caller, body }) => eraseAccount(context, caller, body),
  }
}
