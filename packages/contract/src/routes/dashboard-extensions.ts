/** Extensions, not part of the specification: routes of the dashboard, for sessions only. */
import * as z from 'zod'
import { dockStates } from '../dock-state.ts'
import * as field from '../fields.ts'
import { limits } from '../limits.ts'
import {
  dockSearchPage,
  dockSeries,
  dockTimeline,
  largestDock,
  listedSnapshot,
  listedTemplate,
  snapshotDiff,
  snapshotFolder,
  snapshotSearchPage,
} from '../objects/dashboard.ts'
import { statsWindow } from '../objects/docks.ts'
import { versionPage } from '../objects/environments.ts'
import { invitationGreeting, linkedInvitation, namedMember } from '../objects/organizations.ts'
import { deliveryDetails } from '../objects/webhooks.ts'
import { route } from '../route.ts'
import { dockParams } from './docks.ts'
import { environmentParams, environmentQuery } from './environments.ts'
import { organizationParams } from './organizations.ts'

const { searchLengthMax, searchedIdsMax, pageMax, pageDefault, versionsPageMax, versionsPageDefault } =
  limits.dashboard

const page = {
  limit: field.queryInteger(1, pageMax).default(pageDefault),
  cursor: z.string().min(1).optional(),
}

const states = z
  .string()
  .refine(
    (text) => text.split(',').every((word) => (dockStates as readonly string[]).includes(word)),
    'must be states of Docks, separated by commas',
  )

const ids = z
  .string()
  .refine(
    (text) => z.array(field.uuid).max(searchedIdsMax).safeParse(text.split(',')).success,
    `must be at most ${searchedIdsMax} ids, separated by commas`,
  )

const ofDock = {
  tag: 'Dashboard',
  method: 'GET',
  access: { credentials: 'session', scope: { dock: 'params.id' }, role: 'member' },
  params: dockParams,
  notFound: 'dock_not_found',
} as const

const ofSnapshot = {
  tag: 'Dashboard',
  method: 'GET',
  access: { credentials: 'session', scope: { snapshot: 'params.id' }, role: 'member' },
  params: z.object({ id: field.uuid }),
  notFound: 'snapshot_not_found',
} as const

const snapshotErrors = [
  'validation_error',
  'snapshot_not_found',
  'environment_secrets_admin_only',
  'service_unavailable',
  'rate_limited',
] as const

export const dashboardExtensionRoutes = {
  readLive: route({
    method: 'GET',
    path: '/api/live',
    summary: 'Stream what changes (server-sent events); `Last-Event-ID` continues after a break',
    description:
      'The stream carries ids, not contents: read again what changed. Each event has a cursor as its id.',
    extension: true,
    tag: 'Dashboard',
    access: { credentials: 'session', scope: 'organizations', unverified: false },
    query: z.object({ cursor: z.string().max(limits.live.cursorLengthMax).optional() }),
    response: z.string().meta({
      description:
        'Events: `ready` (a new stream), `resumed`, `changes` (a list of {kind, id, organizationId, dockId}), `reset` ' +
        '(too much was missed: read everything again) and `alive`. Each has a cursor as its id.',
    }),
    responseKind: 'raw',
    responseTypes: ['text/event-stream'],
    errors: ['validation_error', 'rate_limited'],
  }),
  searchDocks: route({
    method: 'GET',
    path: '/api/dashboard/docks',
    summary: "Search the Docks of the caller's organizations, newest first, page by page",
    description: 'If `nextCursor` is not null, send it as `cursor` to get the next page.',
    extension: true,
    tag: 'Dashboard',
    access: { credentials: 'session', scope: 'organizations' },
    query: z.object({
      ...page,
      /** Part of the name, or an id. */
      q: z.string().max(searchLengthMax).optional(),
      states: states.optional(),
      /** Only these Docks, by their ids, separated by commas. */
      ids: ids.optional(),
      organizationId: field.uuid.optional(),
      workspaceId: field.uuid.optional(),
      environmentId: field.uuid.optional(),
      createdBy: field.uuid.optional(),
    }),
    response: dockSearchPage,
    errors: ['validation_error'],
  }),
  readLargestDock: route({
    method: 'GET',
    path: '/api/dashboard/largest-dock',
    summary:
      'Read the most of each size that a Dock can have on the hosts that are online, and their runtimes',
    description: '`largest` is `null` if no host is online.',
    extension: true,
    tag: 'Dashboard',
    access: { credentials: 'session', scope: 'person' },
    response: z.strictObject({ largest: largestDock.nullable(), runtimes: z.array(field.runtimeName) }),
    errors: [],
  }),
  readDockTimeline: route({
    ...ofDock,
    path: '/api/dashboard/docks/:id/timeline',
    summary: 'Read what changed a Dock, by whom and why, newest first',
    description: 'Each entry is a change of state, or a process that ended for lack of memory.',
    extension: true,
    query: z.object(page),
    response: dockTimeline,
    errors: ['validation_error', 'dock_not_found'],
  }),
  readDockSeries: route({
    ...ofDock,
    path: '/api/dashboard/docks/:id/series',
    summary: 'Read the use of cpu, memory, disk and network over time',
    description: 'Each point is the average of one step of time. A step without samples is missing.',
    extension: true,
    query: z.object({ window: statsWindow.default('1h') }),
    response: dockSeries,
    errors: ['validation_error', 'dock_not_found'],
  }),
  listDescribedVersions: route({
    method: 'GET',
    path: '/api/dashboard/environments/:ref/versions',
    summary: 'List the versions of an Environment with the names of their contents, newest first',
    description: 'If `nextBefore` is not null, send it as `before` to get older versions.',
    extension: true,
    tag: 'Dashboard',
    access: { credentials: 'session', scope: { environment: 'params.ref' }, role: 'member' },
    params: environmentParams,
    query: environmentQuery.extend({
      limit: field.queryInteger(1, versionsPageMax).default(versionsPageDefault),
      before: field.queryInteger(1, 2_147_483_647).optional(),
    }),
    response: versionPage,
    errors: ['validation_error', 'environment_not_found'],
    notFound: 'environment_not_found',
  }),
  linkInvitation: route({
    method: 'POST',
    path: '/api/dashboard/organizations/:id/invitations/:invitationId/link',
    summary: 'Make a fresh link for an invitation, to hand it over without mail; the old link stops working',
    description:
      'The invitation gets a new time to expire. Only a person with the verified address of the invitation can accept it.',
    extension: true,
    tag: 'Dashboard',
    access: { credentials: 'session', scope: { organization: 'params.id' }, role: 'admin' },
    params: organizationParams.extend({ invitationId: field.uuid }),
    response: linkedInvitation,
    errors: ['organization_not_found', 'invitation_not_found', 'seats_exceeded', 'forbidden', 'rate_limited'],
    notFound: 'organization_not_found',
    paramNotFound: { invitationId: 'invitation_not_found' },
    noStore: true,
  }),
  readInvitationGreeting: route({
    method: 'GET',
    path: '/api/dashboard/invitations/:token/greeting',
    summary: 'Read who invites to which organization, without signing in',
    description: 'The token is the last part of the link. The invited address is not told.',
    extension: true,
    tag: 'Dashboard',
    access: { credentials: 'public' },
    params: z.object({ token: z.string() }),
    response: invitationGreeting,
    errors: ['invitation_not_found'],
    notFound: 'invitation_not_found',
    noStore: true,
  }),
  listNamedMembers: route({
    method: 'GET',
    path: '/api/dashboard/organizations/:id/members',
    summary: 'List the members of an organization with their names',
    description: 'Oldest membership first.',
    extension: true,
    tag: 'Dashboard',
    access: { credentials: 'session', scope: { organization: 'params.id' }, role: 'member' },
    params: organizationParams,
    response: z.array(namedMember),
    errors: ['organization_not_found'],
    notFound: 'organization_not_found',
  }),
  leaveOrganization: route({
    method: 'POST',
    path: '/api/dashboard/organizations/:id/leave',
    summary: "End the caller's own membership",
    description: 'The last owner cannot leave. Only an admin can invite the person again.',
    extension: true,
    tag: 'Dashboard',
    access: {
      credentials: 'session',
      scope: { organization: 'params.id' },
      role: 'member',
      unverified: true,
    },
    params: organizationParams,
    response: field.removed,
    errors: ['organization_not_found', 'member_not_found', 'cannot_remove_owner'],
    notFound: 'organization_not_found',
  }),
  searchSnapshots: route({
    method: 'GET',
    path: '/api/dashboard/snapshots',
    summary: "List the Snapshots of the caller's organizations with their Docks and copies, newest first",
    description: 'If `nextCursor` is not null, send it as `cursor` to get the next page.',
    extension: true,
    tag: 'Dashboard',
    access: { credentials: 'session', scope: 'organizations' },
    query: z.object({ ...page, dockId: field.uuid.optional(), organizationId: field.uuid.optional() }),
    response: snapshotSearchPage,
    errors: ['validation_error'],
  }),
  readListedSnapshot: route({
    ...ofSnapshot,
    path: '/api/dashboard/snapshots/:id',
    summary: 'Read a Snapshot with its Dock and its copy',
    description: 'The status says whether it can be opened.',
    extension: true,
    response: listedSnapshot,
    errors: ['snapshot_not_found'],
  }),
  listSnapshotFolder: route({
    ...ofSnapshot,
    path: '/api/dashboard/snapshots/:id/folder',
    summary: 'List a folder of a completed Snapshot, page by page, without waking a Dock',
    description:
      'Entries are sorted by the bytes of their names. Names with a line break are left out. Links are not followed.',
    extension: true,
    query: z.object({
      path: z.string().min(1).max(limits.files.pathBytesMax).default('/'),
      limit: field.queryInteger(1, limits.dashboard.folderPageMax).default(limits.dashboard.folderPageMax),
      cursor: z
        .string()
        .regex(/^([0-9a-f]{2}){1,255}$/, 'must be a nextCursor')
        .optional(),
    }),
    response: snapshotFolder,
    errors: snapshotErrors,
  }),
  compareSnapshots: route({
    ...ofSnapshot,
    path: '/api/dashboard/snapshots/:id/diff/:to',
    summary: 'Compare two completed Snapshots exactly, page by page, without waking a Dock',
    description:
      'Compares type, mode, owner and every byte. `to` is the later Snapshot, of the same organization. The work for one page is bounded, so a page may be empty; the end is reached when `nextCursor` is null.',
    extension: true,
    params: z.object({ id: field.uuid, to: field.uuid }),
    query: z.object({ cursor: z.string().min(1).max(limits.dashboard.diffCursorLengthMax).optional() }),
    response: snapshotDiff,
    errors: snapshotErrors,
  }),
  readDelivery: route({
    method: 'GET',
    path: '/api/dashboard/webhooks/:id/deliveries/:deliveryId',
    summary: 'Read what a delivery attempt sent to the receiver, and what came back',
    description: 'The signature is not kept. At most the first KiB of the answer is.',
    extension: true,
    tag: 'Dashboard',
    access: {
      credentials: 'session',
      scope: { organization: 'query.organizationId' },
      role: 'member',
      outsider: 'webhook_endpoint_not_found',
    },
    params: z.object({ id: field.uuid, deliveryId: field.uuid }),
    query: field.organizationQuery,
    response: deliveryDetails,
    errors: ['validation_error', 'webhook_endpoint_not_found', 'not_found'],
    paramNotFound: { id: 'webhook_endpoint_not_found', deliveryId: 'not_found' },
  }),
  searchTemplates: route({
    method: 'GET',
    path: '/api/dashboard/templates',
    summary: "List the Templates of the caller's organizations with where they came from, newest first",
    description: 'A Template that is still being saved, or that failed, is listed too.',
    extension: true,
    tag: 'Dashboard',
    access: { credentials: 'session', scope: 'organizations' },
    response: z.array(listedTemplate),
    errors: [],
  }),
} as const
