/** Routes of exposed ports. */
import type { Handlers } from '../../routing/handler.ts'
import { changePort } from './change-port.ts'
import { exposePort } from './expose-port.ts'
import { listPorts } from './list-ports.ts'
import type { PortContext } from './port-context.ts'
import { unexposePort } from './unexpose-port.ts'

export function portRoutes(context: PortContext): Handlers {
  return {
    listPorts: ({ caller, params }) => listPorts(context, caller, params.id),
    exposePort: ({ caller, params, body }) => exposePort(context, caller, params.id, body.port),
    changePort: ({ caller, params, body }) => changePort(context, caller, params.id, params.port, body),
    unexposePort: ({ caller, params }) => unexposePort(context, caller, params.id, params.port),
  }
}
