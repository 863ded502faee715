/** Routes of exposed ports. */
import {
  changePort,
  exposePort,
  listPorts,
  type PortContext,
  unexposePort,
} from '../../modules/ports/index.ts'
import type { Handlers } from '../../routing/handler.ts'

export function portHandlers(context: PortContext): Handlers {
  return {
    listPorts: ({ caller, params }) => listPorts(context, caller, params.id),
    exposePort: ({ caller, params, body }) => exposePort(context, caller, params.id, body.port),
    changePort: ({ caller, params, body }) => changePort(context, caller, params.id, params.port, body),
    unexposePort: ({ caller, params }) => unexposePort(context, caller, params.id, params.port),
  }
}
