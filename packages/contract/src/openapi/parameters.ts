/** The parameters, request body and credentials of each operation. */
import type * as z from 'zod'
import { runtimeName } from '../fields.ts'
import type { Route } from '../route.ts'
import type { Json, JsonSchemas } from './json-schemas.ts'

/** What an id in a path belongs to, by the segment in front of it. */
const owners: Readonly<Record<string, string>> = {
  connections: 'way to sign in',
  organizations: 'organization',
  invitations: 'invitation',
  members: 'member',
  docks: 'Dock',
  processes: 'process',
  repos: 'repository',
  hosts: 'host',
  installations: 'installation',
  'api-keys': 'API key',
  'ssh-keys': 'SSH key',
  notifications: 'notification',
  operations: 'operation',
  quarantine: 'quarantined item',
  runs: 'Run',
  snapshots: 'Snapshot',
  'unverified-people': 'person',
  endpoints: 'endpoint',
  webhooks: 'endpoint',
  deliveries: 'delivery attempt',
  workspaces: 'workspace',
}

/** Parameters that are no id in the path. Their schemas may say it better. */
const descriptions: Readonly<Record<string, string>> = {
  action: 'An action, or the kind of thing before its point: `member.removed`, or `member`.',
  actorId: 'Only what this person did.',
  all: 'List Docks in every state.',
  before: 'Only versions older than this one.',
  cursor: 'The `nextCursor` of the previous page.',
  createdBy: 'List only Docks that this person created.',
  dockId: 'Count only the usage of this Dock.',
  environmentId: 'The id of the Environment.',
  filter: 'Groups of states, by letter.',
  follow: 'Keep the response open, and send output as it comes.',
  ids: 'List only these Docks, by their ids, separated by commas.',
  key: 'The name of the variable.',
  limit: 'How many entries a page has at most.',
  mode: 'Permission bits in octal digits.',
  month: 'The month as YYYY-MM. Default: the current month.',
  name: 'The name of the Template.',
  offset: 'How many bytes to skip. With `stream=both`, in stdout.',
  organizationId: 'The id of the organization.',
  path: 'The path of the file or folder.',
  port: 'The number of the port.',
  provider: 'The provider of models.',
  q: 'Part of the name, or the whole id or slug.',
  repo: 'List only Runs of this repository, as owner/name.',
  recursive: 'Include everything below the folder.',
  ref: 'The id or the name of the Environment.',
  since: 'Only entries of this time and later.',
  state: 'List only Runs in this state.',
  states: 'List only Docks in these states, separated by commas.',
  stderrOffset: 'With `stream=both`, how many bytes to skip in stderr.',
  stream: 'Which output to read. `both` sends one JSON object a line.',
  targetId: 'Only what was done to this object, by its id.',
  turn: 'The number of the turn. Default: the latest one.',
  ticket: 'The ticket from `POST` on the same path.',
  timeoutSeconds: 'How long to wait at most.',
  to: 'The id of the later Snapshot.',
  token: 'The last part of the emailed link.',
  until: 'Only entries before this time.',
  waitSeconds: 'How long to wait at most if there is nothing new.',
  window: 'Also return averages and peaks over this time.',
  workspaceId: 'The id of the workspace.',
}

const describe = (path: string, name: string): string | undefined => {
  const segments = path.split('/')
  const owner = owners[segments[segments.indexOf(`:${name}`) - 1] ?? '']
  return owner !== undefined && /^(pid|id|.*Id)$/.test(name) ? `The id of the ${owner}.` : descriptions[name]
}

const parametersIn = (
  path: string,
  place: 'path' | 'query',
  schema: z.ZodObject | undefined,
  schemas: JsonSchemas,
): Json[] => {
  if (!schema) return []
  const json = schemas.use(schema) as { properties?: Record<string, Json>; required?: string[] }
  return Object.entries(json.properties ?? {}).map(([name, { description, ...value }]) => ({
    name,
    in: place,
    required: place === 'path' || (json.required ?? []).includes(name),
    description: description ?? describe(path, name),
    schema: value,
  }))
}

const headerDescriptions = {
  'idempotency-key':
    'A text that the caller chooses. A request that is repeated with the same key runs once, and every repetition gets the first response.',
  'x-confirm-delete': 'The id in the path, once more, to confirm that it should be deleted.',
  'x-dock-cancel-on-disconnect':
    'With `true`, the command is ended with everything it started as soon as the caller disconnects.',
  'x-dock-runtime':
    'Only a host of this runtime takes the Dock. Without it, the host decides. A disk boots only under the runtime under which it was made.',
} as const

const headerParameters = (route: Route, idempotencyKey: Json): Json[] =>
  (route.headers ?? []).map((name) => ({
    name,
    in: 'header',
    required: name === 'x-confirm-delete',
    description: headerDescriptions[name],
    schema: {
      'idempotency-key': idempotencyKey,
      'x-confirm-delete': { type: 'string' },
      'x-dock-cancel-on-disconnect': { type: 'string', enum: ['true', 'false'] },
      'x-dock-runtime': { type: 'string', enum: runtimeName.options },
    }[name],
    ...(name.startsWith('x-dock-') ? { 'x-dock-extension': true } : {}),
  }))

/** Returns the parameters of a route in its path, query and headers. */
export function parametersOf(route: Route, schemas: JsonSchemas, idempotencyKey: Json): Json[] {
  return [
    ...parametersIn(route.path, 'path', route.params, schemas),
    ...parametersIn(route.path, 'query', route.query, schemas),
    ...headerParameters(route, idempotencyKey),
  ]
}

/** Returns the request body of a route; undefined if it has none. */
export function requestBodyOf(route: Route, schemas: JsonSchemas): Json | undefined {
  if (route.body)
    return {
      // A body without required fields may be omitted.
      required: !route.body.safeParse({}).success,
      content: { 'application/json': { schema: schemas.use(route.body) } },
    }
  if (!route.requestKind) return undefined
  const types = route.requestTypes ?? ['application/octet-stream']
  const content = types.map((type) => [type, { schema: { type: 'string', format: 'binary' } }])
  return { required: true, content: Object.fromEntries(content) }
}

/** Returns the credentials that a route accepts. */
export function securityOf(route: Route): Json[] {
  const { credentials } = route.access
  if (credentials === 'public') return []
  return credentials.endsWith('session') ? [{ cookie: [] }] : [{ bearer: [] }, { cookie: [] }]
}
