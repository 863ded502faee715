/** Extensions, not part of the specification: processes that outlive the request that started them. */
import * as z from 'zod'
import * as field from '../fields.ts'
import { byteLength } from '../fields.ts'
import { limits } from '../limits.ts'
import { terminalTicket } from '../objects/docks.ts'
import { dockProcess, processDone, processInput, terminalCells } from '../objects/processes.ts'
import { route } from '../route.ts'
import { variables } from '../variables.ts'
import { dockParams } from './docks.ts'

const { argumentsMax, argumentsBytesMax, timeoutSeconds, waitSeconds } = limits.processes

const hasNoNul = (text: string): boolean => !text.includes('\0')
const noNul = 'must not contain a NUL character'

const processParams = z.object({ id: field.uuid, pid: field.uuid })
const offset = field.queryInteger(0, Number.MAX_SAFE_INTEGER)

const signals = [
  ...['HUP', 'INT', 'QUIT', 'ILL', 'TRAP', 'ABRT', 'BUS', 'FPE', 'KILL', 'USR1', 'SEGV', 'USR2'],
  ...['PIPE', 'ALRM', 'TERM', 'CONT', 'STOP', 'TSTP', 'TTIN', 'TTOU', 'WINCH'],
] as const

const access = { credentials: 'caller', scope: { dock: 'params.id' }, role: 'member' } as const

const errors = [
  'validation_error',
  'dock_not_found',
  'environment_secrets_admin_only',
  'dock_not_running',
  'exec_unavailable',
  'exec_busy',
  'not_found',
  'conflict',
  'rate_limited',
  'service_unavailable',
] as const

const ofDock = { tag: 'Processes', access, params: dockParams, notFound: 'dock_not_found' } as const
const ofProcess = {
  tag: 'Processes',
  access,
  params: processParams,
  paramNotFound: { id: 'dock_not_found', pid: 'not_found' },
} as const

export const processExtensionRoutes = {
  startDockProcess: route({
    ...ofDock,
    method: 'POST',
    path: '/v1/docks/:id/processes',
    summary: 'Start a process that outlives this request; its output is kept and read by offset',
    description:
      'Send `command` for a line of shell, or `argv` for a program with arguments. The process goes on when you disconnect. Send an `idempotency-key`, so that a repeated request does not start it twice.',
    extension: true,
    status: 201,
    headers: ['idempotency-key'],
    body: z
      .strictObject({
        /** Run by a login bash. */
        command: field.textOfBytes(1, limits.exec.commandBytesMax).refine(hasNoNul, noNul).optional(),
        argv: z
          .array(z.string().max(argumentsBytesMax).refine(hasNoNul, noNul))
          .min(1)
          .max(argumentsMax)
          .refine(
            (words) => words.reduce((sum, word) => sum + byteLength(word) + 1, 0) <= argumentsBytesMax,
            `must have at most ${argumentsBytesMax} bytes in total`,
          )
          .optional(),
        env: variables(limits.exec.variablesMax, limits.exec.variablesBytesMax).default({}),
        /** Defaults to the work folder. */
        cwd: z
          .string()
          .max(limits.exec.cwdLengthMax)
          .regex(/^\//, 'must be an absolute path')
          .refine(hasNoNul, noNul)
          .optional(),
        /** Runs the process on a terminal of this size. */
        pty: terminalCells.optional(),
        /** After this time the process and all that it started are killed. */
        timeoutSeconds: z.int().min(timeoutSeconds.min).max(timeoutSeconds.max).optional(),
        /** False: its input is empty. */
        stdin: z.boolean().default(false),
        /** For up to 30 seconds, nothing that it writes is dropped before a reader comes: it waits once 4 MiB are kept. */
        holdOutput: z.boolean().default(false),
      })
      .refine(({ command, argv }) => (command === undefined) !== (argv === undefined), {
        message: 'give either command or argv',
        path: ['command'],
      }),
    response: dockProcess,
    errors: [...errors, 'exec_result_expired'],
  }),
  listDockProcesses: route({
    ...ofDock,
    method: 'GET',
    path: '/v1/docks/:id/processes',
    summary: 'List the processes that run and the latest that have ended, oldest first',
    description: 'Also shows processes that have ended, until newer ones replace them.',
    extension: true,
    response: z.array(dockProcess),
    errors,
  }),
  readDockProcess: route({
    ...ofProcess,
    method: 'GET',
    path: '/v1/docks/:id/processes/:pid',
    summary: 'Read a process: its state, exit code, and which bytes of its output are kept',
    description: 'Does not wait. To wait for the end, use the route `wait`.',
    extension: true,
    response: dockProcess,
    errors,
  }),
  readDockProcessOutput: route({
    ...ofProcess,
    method: 'GET',
    path: '/v1/docks/:id/processes/:pid/output',
    summary:
      'Read the output from an offset on; `follow` streams what is still to come. One stream is raw bytes, `both` one JSON object a line',
    description:
      'To continue after a broken connection, ask for the offset after the last byte that you have. Old output is dropped when there is too much of it.',
    extension: true,
    query: z.object({
      stream: z.enum(['stdout', 'stderr', 'both']).default('stdout'),
      /** With `both`, the offset in stdout. */
      offset: offset.default(0),
      /** With `both`, the offset in stderr. */
      stderrOffset: offset.default(0),
      follow: field.queryBoolean.default(false),
    }),
    response: z.string().meta({
      format: 'binary',
      description:
        'The bytes of a stream from `x-dock-start-offset` on; bytes before `x-dock-first-offset` are no longer kept. ' +
        'Or lines {"stream","offset","data"} with data in base64, and {"stream","offset","end":true}.',
    }),
    responseKind: 'raw',
    responseTypes: ['application/octet-stream', 'application/x-ndjson'],
    errors,
  }),
  writeDockProcessInput: route({
    ...ofProcess,
    method: 'POST',
    path: '/v1/docks/:id/processes/:pid/stdin',
    summary:
      'Write input from an offset on; bytes that were sent before are written once, a gap is a conflict',
    description:
      'The process must have been started with `stdin`. `offset` counts all bytes of input, so a repeated request writes nothing twice. A request is refused if it sends nothing for a minute, or less than 1 KiB a second.',
    extension: true,
    query: z.object({ offset }),
    requestKind: 'raw',
    requestTypes: ['application/octet-stream'],
    response: processInput,
    errors,
  }),
  closeDockProcessInput: route({
    ...ofProcess,
    method: 'POST',
    path: '/v1/docks/:id/processes/:pid/stdin/close',
    summary: 'End the input of a process',
    description: 'The process then reads the end of its input.',
    extension: true,
    response: processDone,
    errors,
  }),
  resizeDockProcess: route({
    ...ofProcess,
    method: 'POST',
    path: '/v1/docks/:id/processes/:pid/resize',
    summary: 'Resize the terminal of a process',
    description: 'Only for a process with a pty.',
    extension: true,
    body: terminalCells,
    response: processDone,
    errors,
  }),
  signalDockProcess: route({
    ...ofProcess,
    method: 'POST',
    path: '/v1/docks/:id/processes/:pid/signal',
    summary: 'Send a signal to a process, its group, or all that it started',
    description: 'The name of the signal has no `SIG` in front. `group` is what a terminal does at Ctrl-C.',
    extension: true,
    body: z.strictObject({
      signal: z.enum(signals),
      target: z.enum(['process', 'group', 'tree']).default('group'),
    }),
    response: processDone,
    errors,
  }),
  openProcessTerminal: route({
    ...ofProcess,
    method: 'POST',
    path: '/v1/docks/:id/processes/:pid/terminal',
    summary: 'Get a single-use ticket for a terminal of this process, valid for 30 seconds',
    description:
      'Open the WebSocket `/v1/docks/:id/terminal` with the ticket before it expires. The process must run and have a `pty`. It outlives the terminal.',
    extension: true,
    status: 201,
    body: z.strictObject({
      offset: z.int().min(0).optional().meta({
        description: 'Where in its output the terminal begins. Default: the first byte that is kept.',
      }),
    }),
    response: terminalTicket,
    errors,
  }),
  waitForDockProcess: route({
    ...ofProcess,
    method: 'GET',
    path: '/v1/docks/:id/processes/:pid/wait',
    summary: 'Read a process once it has ended, or as it is after `timeoutSeconds`',
    description: 'If `state` is still `running`, send the request again.',
    extension: true,
    query: z.object({
      timeoutSeconds: field.queryInteger(waitSeconds.min, waitSeconds.max).default(waitSeconds.default),
    }),
    response: dockProcess,
    errors,
  }),
} as const
