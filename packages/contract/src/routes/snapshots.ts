import * as z from 'zod'
import * as field from '../fields.ts'
import { operationAnswer } from '../objects/operations.ts'
import { snapshot, snapshotDownload, snapshotPage, snapshotTree } from '../objects/snapshots.ts'
import { route } from '../route.ts'
import { dockParams } from './docks.ts'

const snapshotParams = z.object({ id: field.uuid })

export const snapshotRoutes = {
  listSnapshots: route({
    method: 'GET',
    path: '/v1/snapshots',
    summary: 'List the Snapshots of all visible Docks, newest first',
    tag: 'Snapshots',
    access: { credentials: 'caller', scope: 'organizations' },
    query: field.pageQuery,
    response: snapshotPage,
    errors: ['validation_error'],
  }),
  listDockSnapshots: route({
    method: 'GET',
    path: '/v1/docks/:id/snapshots',
    summary: 'List the Snapshots of one Dock, newest first',
    tag: 'Snapshots',
    access: { credentials: 'caller', scope: { dock: 'params.id' }, role: 'member' },
    params: dockParams,
    query: field.pageQuery,
    response: snapshotPage,
    errors: ['validation_error', 'dock_not_found'],
    notFound: 'dock_not_found',
  }),
  readLatestSnapshot: route({
    method: 'GET',
    path: '/v1/docks/:id/snapshots/latest',
    summary: 'Read the latest completed Snapshot of a Dock; null when there is none',
    tag: 'Snapshots',
    access: { credentials: 'caller', scope: { dock: 'params.id' }, role: 'member' },
    params: dockParams,
    response: snapshot.nullable(),
    errors: ['dock_not_found'],
    notFound: 'dock_not_found',
  }),
  readSnapshotTree: route({
    method: 'GET',
    path: '/v1/snapshots/:id/tree',
    summary: 'List the files in a completed Snapshot',
    tag: 'Snapshots',
    access: { credentials: 'caller', scope: { snapshot: 'params.id' }, role: 'member' },
    params: snapshotParams,
    response: snapshotTree,
    errors: ['snapshot_not_found', 'environment_secrets_admin_only'],
    notFound: 'snapshot_not_found',
  }),
  readSnapshotFile: route({
    method: 'GET',
    path: '/v1/snapshots/:id/files',
    summary: 'Read the bytes of one file in a Snapshot',
    tag: 'Snapshots',
    access: { credentials: 'caller', scope: { snapshot: 'params.id' }, role: 'member' },
    params: snapshotParams,
    query: z.object({ path: z.string().min(1) }),
    response: z.string().meta({ format: 'binary', description: 'The bytes of the file.' }),
    responseKind: 'raw',
    errors: [
      'validation_error',
      'snapshot_not_found',
      'environment_secrets_admin_only',
      'not_a_regular_file',
      'file_too_large',
    ],
    notFound: 'snapshot_not_found',
  }),
  readSnapshotDownload: route({
    method: 'GET',
    path: '/v1/snapshots/:id/download',
    summary: 'Get a download link for every file in a Snapshot',
    tag: 'Snapshots',
    access: { credentials: 'caller', scope: { snapshot: 'params.id' }, role: 'member' },
    params: snapshotParams,
    response: snapshotDownload,
    errors: ['snapshot_not_found', 'environment_secrets_admin_only'],
    notFound: 'snapshot_not_found',
  }),
  deleteSnapshot: route({
    method: 'DELETE',
    path: '/v1/snapshots/:id',
    summary: 'Delete a Snapshot',
    tag: 'Snapshots',
    access: { credentials: 'caller', scope: { snapshot: 'params.id' }, role: 'admin' },
    status: 202,
    headers: ['x-confirm-delete'],
    params: snapshotParams,
    response: operationAnswer,
    errors: ['confirm_required', 'snapshot_not_found', 'forbidden', 'snapshot_in_use'],
    notFound: 'snapshot_not_found',
  }),
} as const
