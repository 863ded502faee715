/** Triggers for the codes of the routes into Docks, and of operations and images. */

import type { Triggers } from './fixture.ts'
import {
  absentId,
  archived,
  attachTerminal,
  dock,
  exec,
  failing,
  isAbsent,
  isBarred,
  passSecret,
  setSecretsAccess,
  stop,
  withoutTerminals,
  withTicket,
} from './steps.ts'

export const accessTriggers: Triggers<
  | 'execInDock'
  | 'openTerminal'
  | 'connectTerminal'
  | 'listPorts'
  | 'exposePort'
  | 'changePort'
  | 'unexposePort'
  | 'readDockStats'
  | 'readDockLastStop'
  | 'readOperation'
  | 'listImages'
> = {
  execInDock: {
    validation_error: async (fixture) => exec(fixture, await dock(fixture), { command: '' }),
    dock_not_found: (fixture) => exec(fixture, absentId),
    environment_secrets_admin_only: isBarred((fixture, id, as) => exec(fixture, id, {}, as)),
    dock_not_running: async (fixture) => exec(fixture, await archived(fixture)),
    exec_unavailable: async (fixture) => {
      failing(fixture, 'exec', 'unsupported')
      return exec(fixture, await dock(fixture))
    },
    exec_timeout: async (fixture) => exec(fixture, await dock(fixture), { command: 'sleep' }),
    exec_busy: async (fixture) => {
      failing(fixture, 'exec', 'frozen')
      return exec(fixture, await dock(fixture))
    },
    exec_failed: async (fixture) => {
      failing(fixture, 'exec', 'failed')
      return exec(fixture, await dock(fixture))
    },
    exec_result_expired: async (fixture) => {
      const id = await dock(fixture)
      failing(fixture, 'exec', 'lost-after')
      await exec(fixture, id, {}, undefined, { 'idempotency-key': 'key' })
      return exec(fixture, id, {}, undefined, { 'idempotency-key': 'key' })
    },
    rate_limited: async (fixture) => {
      failing(fixture, 'exec', 'busy')
      return exec(fixture, await dock(fixture))
    },
  },
  openTerminal: {
    dock_not_found: isAbsent('POST', '/terminal'),
    environment_secrets_admin_only: isBarred((fixture, id, as) =>
      fixture.ask('POST', `/v1/docks/${id}/terminal`, undefined, { as }),
    ),
    dock_not_running: async (fixture) => fixture.ask('POST', `/v1/docks/${await archived(fixture)}/terminal`),
    exec_unavailable: { because: 'the host is asked only when the ticket is used' },
    rate_limited: async (fixture) => {
      const path = `/v1/docks/${await dock(fixture)}/terminal`
      for (let count = 0; count < 30; count += 1) await fixture.ask('POST', path)
      return fixture.ask('POST', path)
    },
  },
  connectTerminal: {
    validation_error: async (fixture) => fixture.upgrade(`/v1/docks/${await dock(fixture)}/terminal?ticket=`),
    unauthorized: async (fixture) => fixture.upgrade(`/v1/docks/${await dock(fixture)}/terminal?ticket=x`),
    dock_not_found: async (fixture) => fixture.upgrade(`/v1/docks/nonsense/terminal?ticket=x`),
    environment_secrets_admin_only: async (fixture) => {
      await passSecret(fixture)
      await setSecretsAccess(fixture, 'members')
      return withTicket(fixture, () => setSecretsAccess(fixture, 'admins'), fixture.member)
    },
    dock_not_running: (fixture) => withTicket(fixture, (id) => stop(fixture, id)),
    exec_unavailable: withoutTerminals,
    not_found: (fixture) =>
      attachTerminal(fixture, 0, async (path) => {
        await fixture.ask('POST', `${path}/signal`, { signal: 'KILL' })
        await fixture.ask('GET', `${path}/wait`)
      }),
    conflict: (fixture) => attachTerminal(fixture, 1_000_000),
  },
  listPorts: {
    dock_not_found: isAbsent('GET', '/ports'),
    environment_secrets_admin_only: isBarred((fixture, id, as) =>
      fixture.ask('GET', `/v1/docks/${id}/ports`, undefined, { as }),
    ),
  },
  exposePort: {
    validation_error: async (fixture) =>
      fixture.ask('POST', `/v1/docks/${await dock(fixture)}/ports`, { port: 2222 }),
    dock_not_found: isAbsent('POST', '/ports', { port: 80 }),
    environment_secrets_admin_only: isBarred((fixture, id, as) =>
      fixture.ask('POST', `/v1/docks/${id}/ports`, { port: 80 }, { as }),
    ),
    port_limit_reached: async (fixture) => {
      const path = `/v1/docks/${await dock(fixture)}/ports`
      for (let port = 1; port <= 10; port += 1) await fixture.ask('POST', path, { port })
      return fixture.ask('POST', path, { port: 11 })
    },
    ports_unavailable: async (fixture) =>
      fixture.ask('POST', `/v1/docks/${await dock(fixture)}/ports`, { port: 80 }),
  },
  changePort: {
    validation_error: async (fixture) =>
      fixture.ask('PATCH', `/v1/docks/${await dock(fixture)}/ports/80`, { host: 'other' }),
    dock_not_found: isAbsent('PATCH', '/ports/80', { host: 'public' }),
    environment_secrets_admin_only: isBarred((fixture, id, as) =>
      fixture.ask('PATCH', `/v1/docks/${id}/ports/80`, { host: 'public' }, { as }),
    ),
    port_not_found: async (fixture) =>
      fixture.ask('PATCH', `/v1/docks/${await dock(fixture)}/ports/80`, { host: 'public' }),
  },
  unexposePort: {
    dock_not_found: isAbsent('DELETE', '/ports/80'),
    environment_secrets_admin_only: isBarred((fixture, id, as) =>
      fixture.ask('DELETE', `/v1/docks/${id}/ports/80`, undefined, { as }),
    ),
    port_not_found: async (fixture) => fixture.ask('DELETE', `/v1/docks/${await dock(fixture)}/ports/80`),
  },
  readDockStats: {
    validation_error: async (fixture) =>
      fixture.ask('GET', `/v1/docks/${await dock(fixture)}/stats?window=2h`),
    dock_not_found: isAbsent('GET', '/stats'),
  },
  readDockLastStop: {
    dock_not_found: isAbsent('GET', '/last-stop'),
  },
  readOperation: {
    operation_not_found: (fixture) => fixture.ask('GET', `/v1/operations/op_${'a'.repeat(20)}`),
  },
  listImages: {},
}
