/** Extensions, not part of the specification: files in running Docks. Programs inside the Dock do all the work. */
import * as z from 'zod'
import { bytesOfName, isByteName } from '../byte-name.ts'
import * as field from '../fields.ts'
import { limits } from '../limits.ts'
import { fileChange, fileEntry, fileList } from '../objects/files.ts'
import { route } from '../route.ts'
import { dockParams } from './docks.ts'

const { pathBytesMax, listPage } = limits.files

const path = z
  .string()
  .max(pathBytesMax)
  .regex(/^\//, 'must be an absolute path')
  .refine((text) => !text.includes('\0'), 'must not contain a NUL character')
  .refine(isByteName, 'must be UTF-8, or bytes as U+DC80 to U+DCFF')
  .refine((text) => bytesOfName(text).length <= pathBytesMax, `must be at most ${pathBytesMax} bytes`)

/** A path that can be changed. */
const changeable = path.refine((text) => !/^\/+$/.test(text), 'must not be the root folder')

const mode = z.string().regex(/^[0-7]{3,4}$/, 'must be three or four octal digits')

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

const shared = {
  tag: 'Files',
  access,
  params: dockParams,
  notFound: 'dock_not_found',
} as const

const bytes = (description: string) => z.string().meta({ format: 'binary', description })

export const fileExtensionRoutes = {
  readDockFile: route({
    ...shared,
    method: 'GET',
    path: '/v1/docks/:id/files',
    summary: 'Read a file of a running Dock; with `Accept: application/x-tar` a file or folder as tar',
    description:
      'Sends the file as a stream; `Range` selects a part of it. `x-dock-mode` has its permissions in octal, and `ETag` stays the same as long as the file does. A folder can be read only as a tar.',
    extension: true,
    query: z.object({ path }),
    queryOfBytes: true,
    response: bytes('The bytes of the file, or a tar.'),
    responseKind: 'raw',
    responseTypes: ['application/octet-stream', 'application/x-tar'],
    errors: [...errors, 'not_a_regular_file'],
  }),
  writeDockFile: route({
    ...shared,
    method: 'PUT',
    path: '/v1/docks/:id/files',
    summary: 'Write a file of a running Dock; a body of type application/x-tar is unpacked into the folder',
    description:
      'The file appears under its name once it is complete, so no program reads half of it. The folders above it must exist.',
    extension: true,
    query: z.object({ path: changeable, mode: mode.optional() }),
    queryOfBytes: true,
    requestKind: 'raw',
    requestTypes: ['application/octet-stream', 'application/x-tar'],
    response: fileEntry,
    errors: [...errors, 'not_a_regular_file', 'file_too_large'],
  }),
  deleteDockFile: route({
    ...shared,
    method: 'DELETE',
    path: '/v1/docks/:id/files',
    summary: 'Delete a file or an empty folder; with `recursive=true` a folder with all it contains',
    description: 'A link is deleted itself, not what it points to.',
    extension: true,
    query: z.object({ path: changeable, recursive: field.queryBoolean.default(false) }),
    queryOfBytes: true,
    response: field.deleted,
    errors,
  }),
  listDockFiles: route({
    ...shared,
    method: 'GET',
    path: '/v1/docks/:id/files/list',
    summary: 'Describe a path and, page by page, what a folder contains',
    description:
      'Entries are sorted by the bytes of their names. If `nextCursor` is not null, send it as `cursor` to get the next page. In a folder of more than 10,000 entries, a page with a `cursor` may lack names that are less than a minute old.',
    extension: true,
    query: z.object({
      path,
      limit: field.queryInteger(listPage.min, listPage.max).default(listPage.default),
      cursor: z
        .string()
        .regex(/^([0-9a-f]{2}){1,1024}$/, 'must be a nextCursor')
        .optional(),
    }),
    queryOfBytes: true,
    response: fileList,
    errors,
  }),
  makeDockFolder: route({
    ...shared,
    method: 'POST',
    path: '/v1/docks/:id/files/mkdir',
    summary: 'Make a folder; with `parents` also those above it, and an existing one is no error',
    description: 'Returns the folder. Its `mode` applies only if the folder is new.',
    extension: true,
    body: z.strictObject({ path: changeable, mode: mode.optional(), parents: z.boolean().default(false) }),
    bodyOfBytes: true,
    response: fileEntry,
    errors,
  }),
  moveDockFile: route({
    ...shared,
    method: 'POST',
    path: '/v1/docks/:id/files/move',
    summary: 'Move or rename a file or folder; `overwrite` replaces a file that is there',
    description: 'Returns the file or folder at its new place.',
    extension: true,
    body: z.strictObject({ from: changeable, to: changeable, overwrite: z.boolean().default(false) }),
    bodyOfBytes: true,
    response: fileEntry,
    errors,
  }),
  watchDockFiles: route({
    ...shared,
    method: 'GET',
    path: '/v1/docks/:id/files/watch',
    summary: 'Stream the changes in a folder, one JSON object a line',
    description:
      'The first line is `watching`: changes from then on are reported. The stream lasts until you close it, the folder is gone, or the longest time has passed.',
    extension: true,
    query: z.object({ path, recursive: field.queryBoolean.default(false) }),
    queryOfBytes: true,
    response: bytes(
      'One JSON object a line: watching, created, modified, attributes, deleted, moved, overflow, alive, ended.',
    ),
    responseKind: 'raw',
    responseTypes: ['application/x-ndjson'],
    lineSchema: fileChange,
    errors,
  }),
} as const
