/** Routes of terminals. The terminal gateway handles the WebSocket. */
import { ServiceError } from '@dock/contract'
import { openTerminal, type TerminalContext } from '../../modules/terminals/index.ts'
import type { Handlers } from '../../routing/handler.ts'

export function terminalHandlers(context: TerminalContext): Handlers {
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
