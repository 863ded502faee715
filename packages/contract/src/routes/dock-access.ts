import * as z from 'zod'
import * as field from '../fields.ts'
import { limits } from '../limits.ts'
import {
  dockStats,
  execResult,
  portEntry,
  portSettings,
  statsWindow,
  terminalTicket,
} from '../objects/docks.ts'
import { route } from '../route.ts'
import { variables } from '../variables.ts'
import { dockParams } from './docks.ts'

const portNumber = z
  .int()
  .min(limits.ports.min)
  .max(limits.ports.max)
  .refine((port) => port !== limits.ports.reserved, `${limits.ports.reserved} is reserved`)

const hasNoNul = (text: string): boolean => !text.includes('\0')

/** Routes into a running Dock: commands, terminals, ports, statistics. */
export const dockAccessRoutes = {
  execInDock: route({
    method: 'POST',
    path: '/v1/docks/:id/exec',
    summary: 'Run one command in a ready Dock',
    description:
      'Waits until the command has ended, and returns its output and exit code. Output beyond the limit is cut and `truncated` is true. For long commands, and for output while they run, start a process instead.',
    tag: 'Docks',
    access: { credentials: 'caller', scope: { dock: 'params.id' }, role: 'member' },
    headers: ['idempotency-key', 'x-dock-cancel-on-disconnect'],
    replaysAnyBody: true,
    params: dockParams,
    body: z.strictObject({
      command: field
        .textOfBytes(1, limits.exec.commandBytesMax)
        .refine(hasNoNul, 'must not contain a NUL character'),
      timeoutSeconds: z
        .int()
        .min(limits.exec.timeoutSeconds.min)
        .max(limits.exec.timeoutSeconds.max)
        .default(limits.exec.timeoutSeconds.default),
      env: variables(limits.exec.variablesMax, limits.exec.variablesBytesMax).default({}),
      cwd: z
        .string()
        .max(limits.exec.cwdLengthMax)
        .regex(/^\//, 'must be an absolute path')
        .refine(hasNoNul, 'must not contain a NUL character')
        .default(limits.exec.cwdDefault),
    }),
    response: execResult,
    errors: [
      'validation_error',
      'dock_not_found',
      'environment_secrets_admin_only',
      'dock_not_running',
      'exec_unavailable',
      'exec_timeout',
      'exec_busy',
      'exec_failed',
      'exec_result_expired',
      'rate_limited',
    ],
    notFound: 'dock_not_found',
  }),
  openTerminal: route({
    method: 'POST',
    path: '/v1/docks/:id/terminal',
    summary: 'Get a single-use ticket for a terminal, valid for 30 seconds',
    description:
      'Open the WebSocket of the same path with the ticket before it expires. A ticket works once. The terminal is a new shell. For a terminal of a running process, request the ticket at that process.',
    tag: 'Docks',
    access: { credentials: 'caller', scope: { dock: 'params.id' }, role: 'member' },
    status: 201,
    params: dockParams,
    response: terminalTicket,
    errors: [
      'dock_not_found',
      'environment_secrets_admin_only',
      'dock_not_running',
      'exec_unavailable',
      'rate_limited',
    ],
    notFound: 'dock_not_found',
  }),
  connectTerminal: route({
    method: 'GET',
    path: '/v1/docks/:id/terminal',
    summary: 'Open the terminal WebSocket with a ticket',
    description:
      'The ticket is the only credential. Binary frames carry the bytes of the terminal in both directions; text frames carry control messages such as a resize.',
    tag: 'Docks',
    // The ticket is the credential.
    access: { credentials: 'public' },
    params: dockParams,
    query: z.object({ ticket: z.string().min(1) }),
    response: z.string().meta({
      description: 'Terminal frames: binary frames carry bytes, text frames carry control messages as JSON.',
    }),
    responseKind: 'websocket',
    errors: [
      'validation_error',
      'unauthorized',
      'dock_not_found',
      'environment_secrets_admin_only',
      'dock_not_running',
      'exec_unavailable',
      // With a process that has ended in the meantime, or whose output is shorter than the offset.
      'not_found',
      'conflict',
    ],
    notFound: 'dock_not_found',
  }),
  listPorts: route({
    method: 'GET',
    path: '/v1/docks/:id/ports',
    summary: 'List the exposed ports of a Dock',
    description:
      'Each port has the address at which it can be reached, or `null` if hosted ports are off on this instance.',
    tag: 'Docks',
    access: { credentials: 'caller', scope: { dock: 'params.id' }, role: 'member', dockKey: true },
    params: dockParams,
    response: z.array(portEntry),
    errors: ['dock_not_found', 'environment_secrets_admin_only'],
    notFound: 'dock_not_found',
  }),
  exposePort: route({
    method: 'POST',
    path: '/v1/docks/:id/ports',
    summary: 'Expose a TCP port of a Dock at a public address',
    description: 'Everybody who knows the address can reach the port.',
    tag: 'Docks',
    access: { credentials: 'caller', scope: { dock: 'params.id' }, role: 'member', dockKey: true },
    status: 201,
    params: dockParams,
    body: z.strictObject({ port: portNumber }),
    response: portEntry,
    errors: [
      'validation_error',
      'dock_not_found',
      'environment_secrets_admin_only',
      'port_limit_reached',
      'ports_unavailable',
    ],
    notFound: 'dock_not_found',
  }),
  changePort: route({
    method: 'PATCH',
    path: '/v1/docks/:id/ports/:port',
    summary: 'Set which Host the program on an exposed port sees',
    description:
      '`local`, the default, is `localhost` with the port, which development servers accept; `X-Forwarded-Host` has the public name. `public` keeps the public name.',
    extension: true,
    tag: 'Docks',
    access: { credentials: 'caller', scope: { dock: 'params.id' }, role: 'member' },
    params: z.object({ id: field.uuid, port: field.queryInteger(limits.ports.min, limits.ports.max) }),
    body: z.strictObject({ host: portSettings.shape.host }),
    response: portSettings,
    errors: ['validation_error', 'dock_not_found', 'environment_secrets_admin_only', 'port_not_found'],
    notFound: 'dock_not_found',
    paramNotFound: { port: 'port_not_found' },
  }),
  unexposePort: route({
    method: 'DELETE',
    path: '/v1/docks/:id/ports/:port',
    summary: 'Stop exposing a port',
    description: 'The program in the Dock keeps running.',
    tag: 'Docks',
    access: { credentials: 'caller', scope: { dock: 'params.id' }, role: 'member', dockKey: true },
    params: z.object({ id: field.uuid, port: field.queryInteger(limits.ports.min, limits.ports.max) }),
    response: field.deleted,
    errors: ['dock_not_found', 'environment_secrets_admin_only', 'port_not_found'],
    notFound: 'dock_not_found',
    paramNotFound: { port: 'port_not_found' },
  }),
  readDockStats: route({
    method: 'GET',
    path: '/v1/docks/:id/stats',
    summary: "Read a Dock's latest usage sample, and optionally averages and peaks over a window",
    description:
      'The sample is `null` while the Dock does not run. With `window`, the response also has averages and peaks.',
    tag: 'Docks',
    access: { credentials: 'caller', scope: { dock: 'params.id' }, role: 'member', dockKey: true },
    params: dockParams,
    query: z.object({ window: statsWindow.optional() }),
    response: dockStats,
    errors: ['validation_error', 'dock_not_found'],
    notFound: 'dock_not_found',
  }),
} as const
