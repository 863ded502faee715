import * as z from 'zod'
import * as field from '../fields.ts'
import { limits } from '../limits.ts'
import { dock, dockStateAnswer } from '../objects/docks.ts'
import { operationAnswer } from '../objects/operations.ts'
import { route } from '../route.ts'
import { variables } from '../variables.ts'

export const dockParams = z.object({ id: field.uuid })

const sizes = {
  cpus: field.cpus.optional(),
  memoryMiB: field.memoryMiB.optional(),
  diskGiB: field.diskGiB.optional(),
}
const env = variables(limits.dockVariablesMax, limits.dockVariablesBytesMax).optional()

const createErrors = [
  'validation_error',
  'image_unknown',
  'image_unavailable',
  'dock_not_found',
  'environment_not_found',
  'environment_secrets_admin_only',
  'connector_admin_only',
  'template_not_found',
  'template_source_missing',
  'dock_name_taken',
  'capacity_exhausted',
  'no_host_capacity',
  'base_image_unavailable',
  'subscription_required',
  'concurrency_exceeded',
  'budget_exceeded',
  'idempotency_key_reused',
  'idempotency_in_progress',
] as const

// `all` ignores the filter, so the filter is only validated without it.
const listQuery = z
  .object({
    filter: z.string().default('r').meta({ pattern: '^[rspte]+$' }),
    all: field.queryBoolean.default(false),
  })
  .superRefine((query, context) => {
    if (query.all || /^[rspte]+$/.test(query.filter)) return
    context.addIssue({
      code: 'custom',
      path: ['filter'],
      message: 'must contain only the letters r, s, p, t, e',
    })
  })

export const dockRoutes = {
  createDock: route({
    method: 'POST',
    path: '/v1/docks',
    summary: 'Create a Dock; the response is sent once it is ready',
    description:
      'Takes an image by name, or starts `from` a Template. The response is sent once commands can run. Send an `idempotency-key`, so that a repeated request does not create a second Dock.',
    tag: 'Docks',
    access: { credentials: 'caller', scope: { dockHome: 'body.workspaceId' }, role: 'member' },
    status: 201,
    headers: ['idempotency-key', 'x-dock-runtime'],
    body: z.strictObject({
      workspaceId: field.uuid,
      name: field.dockName.optional(),
      /** Defaults to the instance's default image. */
      image: z.string().optional(),
      cpus: field.cpus.default(limits.cpus.default),
      memoryMiB: field.memoryMiB.default(limits.memoryMiB.default),
      // With `from`, the disk is by default at least as large as that of the Template.
      diskGiB: field.diskGiB.optional().meta({ default: limits.diskGiB.default }),
      ttlSeconds: field.ttlSeconds.default(null),
      environment: field.environmentReference.optional(),
      noEnv: z.boolean().default(false),
      env,
      from: z.string().min(1).max(limits.fromLengthMax).optional(),
      setupScript: z.string().max(limits.dockSetupScriptLengthMax).optional(),
    }),
    response: dock,
    errors: createErrors,
  }),
  listDocks: route({
    method: 'GET',
    path: '/v1/docks',
    summary: "List the Docks of the caller's organizations",
    description:
      '`filter` chooses states by letters: r for ready, cloning, idle and running; s for archived; p for provisioning; t for archiving; e for error and unreachable. `all` lists every Dock and ignores the filter.',
    tag: 'Docks',
    access: { credentials: 'caller', scope: 'organizations' },
    query: listQuery,
    response: z.array(dock),
    streamedList: true,
    errors: ['validation_error'],
  }),
  readDock: route({
    method: 'GET',
    path: '/v1/docks/:id',
    summary: 'Read a Dock',
    description: 'Read it again after a stop, resume or branch to see how its state changes.',
    tag: 'Docks',
    access: { credentials: 'caller', scope: { dock: 'params.id' }, role: 'member', dockKey: true },
    params: dockParams,
    response: dock,
    errors: ['dock_not_found'],
    notFound: 'dock_not_found',
  }),
  updateDock: route({
    method: 'PATCH',
    path: '/v1/docks/:id',
    summary: 'Rename a Dock, set its auto-stop timer, or resize it while archived',
    description:
      'Only the fields that you send change. Sizes can change only while the Dock is archived. While retention is on, only the creator of the Dock or an admin may set `ttlSeconds`.',
    tag: 'Docks',
    access: { credentials: 'caller', scope: { dock: 'params.id' }, role: 'member' },
    params: dockParams,
    body: z.strictObject({
      name: field.dockName.optional(),
      ttlSeconds: field.ttlSeconds.optional(),
      ...sizes,
    }),
    response: dock,
    errors: [
      'validation_error',
      'dock_not_found',
      'dock_name_taken',
      'conflict',
      // A timer whose stop would delete what the caller may not delete, because retention is on.
      'forbidden',
    ],
    notFound: 'dock_not_found',
  }),
  deleteDock: route({
    method: 'DELETE',
    path: '/v1/docks/:id',
    summary: 'Delete a Dock and its Snapshots; only its creator or an admin may',
    description:
      'Only its creator or an admin may. This cannot be undone. Send the id of the Dock in `x-confirm-delete`, and poll the operation to see when it has completed.',
    tag: 'Docks',
    access: { credentials: 'caller', scope: { dock: 'params.id' }, role: 'member' },
    status: 202,
    headers: ['x-confirm-delete'],
    params: dockParams,
    response: operationAnswer,
    errors: [
      'confirm_required',
      'dock_not_found',
      'dock_delete_forbidden',
      'snapshot_in_use',
      'conflict',
      'dock_busy',
    ],
    notFound: 'dock_not_found',
  }),
  stopDock: route({
    method: 'POST',
    path: '/v1/docks/:id/stop',
    summary: 'Stop a Dock: capture it as a Snapshot and archive it',
    description:
      'Captures the disk as a Snapshot, so that the Dock can be resumed later. With `force` nothing is captured: what changed since the last Snapshot is lost, and earlier Snapshots stay. While retention is on, a stop without `force` deletes all data of the Dock, so only its creator or an admin may do it.',
    tag: 'Docks',
    access: { credentials: 'caller', scope: { dock: 'params.id' }, role: 'member', unverified: true },
    status: 202,
    params: dockParams,
    body: z.strictObject({ force: z.boolean().default(false) }),
    response: dockStateAnswer,
    errors: ['dock_not_found', 'dock_delete_forbidden', 'conflict', 'dock_busy', 'service_unavailable'],
    notFound: 'dock_not_found',
  }),
  resumeDock: route({
    method: 'POST',
    path: '/v1/docks/:id/resume',
    summary: 'Boot an archived Dock from its latest Snapshot',
    description:
      'The Dock keeps its id and its disk. Programs that ran before the stop do not start by themselves. Sizes and the Environment may change here.',
    tag: 'Docks',
    access: { credentials: 'caller', scope: { dock: 'params.id' }, role: 'member' },
    status: 202,
    params: dockParams,
    body: z.strictObject({
      /** Omitted keeps the stored value, null clears it. */
      ttlSeconds: field.ttlSeconds.optional(),
      ...sizes,
      environment: field.environmentReference.optional(),
      noEnv: z.boolean().optional(),
    }),
    response: dockStateAnswer,
    errors: [
      'validation_error',
      'dock_not_found',
      'environment_not_found',
      'conflict',
      'environment_secrets_admin_only',
      'capacity_exhausted',
      'no_host_capacity',
      'base_image_unavailable',
      'image_unavailable',
      'dock_busy',
      'subscription_required',
      'concurrency_exceeded',
      'budget_exceeded',
      // A timer whose stop would delete what the caller may not delete, because retention is on.
      'forbidden',
    ],
    notFound: 'dock_not_found',
  }),
  branchDock: route({
    method: 'POST',
    path: '/v1/docks/:id/branch',
    summary: 'Copy a Dock: capture it and start a new one from that Snapshot',
    description:
      'The source keeps running. The new Dock has the same files, and its own id, name and timer. Send an `idempotency-key`, so that a repeated request does not create a second copy.',
    tag: 'Docks',
    access: { credentials: 'caller', scope: { dock: 'params.id' }, role: 'member' },
    status: 201,
    headers: ['idempotency-key', 'x-dock-runtime'],
    params: dockParams,
    body: z.strictObject({
      name: field.dockName.optional(),
      /** If given, must equal the source's image. */
      image: z.string().optional(),
      ...sizes,
      ttlSeconds: field.ttlSeconds.default(null),
      environment: field.environmentReference.optional(),
      noEnv: z.boolean().optional(),
      env,
    }),
    response: dock,
    errors: [...createErrors, 'dock_busy', 'conflict', 'service_unavailable'],
    notFound: 'dock_not_found',
  }),
} as const
