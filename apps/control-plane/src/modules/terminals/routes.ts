/** Routes of terminals. The terminal gateway handles the WebSocket. */
import { ServiceError } from '@dock/contract'
import type { Handlers } from '../../routing/handler.ts'
import { openTerminal } from './open-terminal.ts'
import type { TerminalContext } from './terminal-context.ts'

export function terminalRoutes(context: TerminalContext): Handlers {
  return {
    openTerminal: ({ caller, params }) => openTerminal(context, caller, params.id),
    openProcessTerminal: ({ caller, params: { id, pid }, body }) =>
      openTerminal(context, caller, id, { processId: pid, offset: body.offset ?? 0 }),
    connectTerminal: async () => {
      throw new ServiceError('validation_error', {
        message: 'This URL serves WebSockets only. Open it with a WebSocket client.',
      })
    },
  }
}
