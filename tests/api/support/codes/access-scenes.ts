/** How each code of the routes into Docks, and of operations and images, comes about. */
import {
  archived,
  dock,
  exec,
  failing,
  isAbsent,
  isBarred,
  nobody,
  passSecret,
  setSecretsAccess,
  stop,
  withoutTerminals,
  withTicket,
} from './moves.ts'
import type { Scenes } from './stage.ts'

export const accessScenes: Scenes<
  | 'execInDock'
  | 'openTerminal'
  | 'connectTerminal'
  | 'listPorts'
  | 'exposePort'
  | 'unexposePort'
  | 'readDockStats'
  | 'readOperation'
  | 'listImages'
> = {
  execInDock: {
    validation_error: async (stage) => exec(stage, await dock(stage), { command: '' }),
    dock_not_found: (stage) => exec(stage, nobody),
    environment_secrets_admin_only: isBarred((stage, id, as) => exec(stage, id, {}, as)),
    dock_not_running: async (stage) => exec(stage, await archived(stage)),
    exec_unavailable: async (stage) => {
      failing(stage, 'exec', 'unsupported')
      return exec(stage, await dock(stage))
    },
    exec_timeout: async (stage) => exec(stage, await dock(stage), { command: 'sleep' }),
    exec_busy: async (stage) => {
      failing(stage, 'exec', 'frozen')
      return exec(stage, await dock(stage))
    },
    exec_failed: async (stage) => {
      failing(stage, 'exec', 'failed')
      return exec(stage, await dock(stage))
    },
    exec_result_expired: async (stage) => {
      const id = await dock(stage)
      failing(stage, 'exec', 'lost-after')
      await exec(stage, id, {}, undefined, { 'idempotency-key': 'key' })
      return exec(stage, id, {}, undefined, { 'idempotency-key': 'key' })
    },
    rate_limited: async (stage) => {
      failing(stage, 'exec', 'busy')
      return exec(stage, await dock(stage))
    },
  },
  openTerminal: {
    dock_not_found: isAbsent('POST', '/terminal'),
    environment_secrets_admin_only: isBarred((stage, id, as) =>
      stage.ask('POST', `/v1/docks/${id}/terminal`, undefined, { as }),
    ),
    dock_not_running: async (stage) => stage.ask('POST', `/v1/docks/${await archived(stage)}/terminal`),
    exec_unavailable: { because: 'the host is asked when the ticket is used, and the WebSocket is told' },
    rate_limited: async (stage) => {
      const path = `/v1/docks/${await dock(stage)}/terminal`
      for (let count = 0; count < 30; count += 1) await stage.ask('POST', path)
      return stage.ask('POST', path)
    },
  },
  connectTerminal: {
    validation_error: async (stage) => stage.upgrade(`/v1/docks/${await dock(stage)}/terminal?ticket=`),
    unauthorized: async (stage) => stage.upgrade(`/v1/docks/${await dock(stage)}/terminal?ticket=x`),
    dock_not_found: async (stage) => stage.upgrade(`/v1/docks/nonsense/terminal?ticket=x`),
    environment_secrets_admin_only: async (stage) => {
      await passSecret(stage)
      await setSecretsAccess(stage, 'members')
      return withTicket(stage, () => setSecretsAccess(stage, 'admins'), stage.member)
    },
    dock_not_running: (stage) => withTicket(stage, (id) => stop(stage, id)),
    exec_unavailable: withoutTerminals,
  },
  listPorts: {
    dock_not_found: isAbsent('GET', '/ports'),
    environment_secrets_admin_only: isBarred((stage, id, as) =>
      stage.ask('GET', `/v1/docks/${id}/ports`, undefined, { as }),
    ),
  },
  exposePort: {
    validation_error: async (stage) =>
      stage.ask('POST', `/v1/docks/${await dock(stage)}/ports`, { port: 2222 }),
    dock_not_found: isAbsent('POST', '/ports', { port: 80 }),
    environment_secrets_admin_only: isBarred((stage, id, as) =>
      stage.ask('POST', `/v1/docks/${id}/ports`, { port: 80 }, { as }),
    ),
    port_limit_reached: async (stage) => {
      const path = `/v1/docks/${await dock(stage)}/ports`
      for (let port = 1; port <= 10; port += 1) await stage.ask('POST', path, { port })
      return stage.ask('POST', path, { port: 11 })
    },
    ports_unavailable: async (stage) =>
      stage.ask('POST', `/v1/docks/${await dock(stage)}/ports`, { port: 80 }),
  },
  unexposePort: {
    dock_not_found: isAbsent('DELETE', '/ports/80'),
    environment_secrets_admin_only: isBarred((stage, id, as) =>
      stage.ask('DELETE', `/v1/docks/${id}/ports/80`, undefined, { as }),
    ),
    port_not_found: async (stage) => stage.ask('DELETE', `/v1/docks/${await dock(stage)}/ports/80`),
  },
  readDockStats: {
    validation_error: async (stage) => stage.ask('GET', `/v1/docks/${await dock(stage)}/stats?window=2h`),
    dock_not_found: isAbsent('GET', '/stats'),
  },
  readOperation: { operation_not_found: (stage) => stage.ask('GET', `/v1/operations/op_${'a'.repeat(20)}`) },
  listImages: {},
}
