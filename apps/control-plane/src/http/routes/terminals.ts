/** Routes of terminals. The terminal gateway handles the WebSocket. */
import { ServiceError } from '@dock/contract'
import { openTerminal, type TerminalContext } from '../../modules/terminals/index.ts'
import type { Handlers } from '../handler.ts'

export function terminalHandlers(context: TerminalContext): Handlers {
  return {
    openTerminal: ({ caller, params, body }) => openTerminal(context, caller, params.id, body),
    connectTerminal: async () => {
      throw new ServiceError('validation_error', {
        message: 'This URL serves WebSockets only. Open it with a WebSocket client.',
      })
    },
  }
}
