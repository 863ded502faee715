import * as z from 'zod'
import * as field from '../fields.ts'
import { limits } from '../limits.ts'
import {
  environment,
  environmentRepository,
  gitProvider,
  revealedSecrets,
  secretFile,
} from '../objects/environments.ts'
import { route } from '../route.ts'
import { variableName, variableValue } from '../variables.ts'
import { environmentParams, environmentQuery } from './environments.ts'

const { environment: most } = limits
const write = ['validation_error', 'environment_not_found', 'conflict', 'forbidden'] as const
const remove = ['validation_error', 'environment_not_found', 'not_found', 'conflict', 'forbidden'] as const
const shared = {
  tag: 'Environments',
  access: { credentials: 'caller', scope: { environment: 'params.ref' }, role: 'admin' },
  query: environmentQuery,
  notFound: 'environment_not_found',
} as const

/** The contents of an Environment: repositories, variables, secret files. Every change makes a new version. */
export const environmentContentsRoutes = {
  listEnvironmentRepositories: route({
    ...shared,
    method: 'GET',
    path: '/v1/environments/:ref/repos',
    summary: 'List the repositories of an Environment',
    description: 'Docks that start with this Environment get a clone of each repository.',
    access: { credentials: 'caller', scope: { environment: 'params.ref' }, role: 'member' },
    params: environmentParams,
    response: z.array(environmentRepository),
    errors: ['validation_error', 'environment_not_found'],
  }),
  addEnvironmentRepository: route({
    ...shared,
    method: 'POST',
    path: '/v1/environments/:ref/repos',
    summary: 'Add a repository to an Environment',
    description: 'Makes a new version of the Environment. The setup script runs after the clone.',
    status: 201,
    params: environmentParams,
    body: z
      .strictObject({
        provider: gitProvider,
        repositoryId: z
          .string()
          .min(most.repositoryIdLength.min)
          .max(most.repositoryIdLength.max)
          .refine(field.isPlainText, 'must not contain control characters'),
        fullName: z
          .string()
          .regex(/^[A-Za-z0-9_.-]+(\/[A-Za-z0-9_.-]+)+$/, 'must be owner/name')
          // The clone's folder gets the repository's name, so dot names, .git and .dock are refused.
          .refine((name) => !/(^|\/)\.+(\/|$)|\/\.(git|dock)$/i.test(name), 'must be owner/name'),
        baseBranch: z
          .string()
          .min(1)
          .max(most.baseBranchLengthMax)
          .refine(field.isPlainText, 'must not contain control characters')
          .optional(),
        setupScript: field.textOfBytes(0, most.repositorySetupScriptBytesMax).optional(),
      })
      // GitLab allows nested groups: group/subgroup/name.
      .refine(({ provider, fullName }) => provider !== 'github' || fullName.split('/').length === 2, {
        path: ['fullName'],
        message: 'must be owner/name for GitHub',
      }),
    response: environment,
    errors: write,
  }),
  removeEnvironmentRepository: route({
    ...shared,
    method: 'DELETE',
    path: '/v1/environments/:ref/repos/:repoId',
    summary: 'Remove a repository from an Environment',
    description: 'Makes a new version of the Environment. Docks that have a clone keep it.',
    params: environmentParams.extend({ repoId: field.uuid }),
    paramNotFound: { repoId: 'not_found' },
    response: environment,
    errors: remove,
  }),
  replaceEnvironmentSecrets: route({
    ...shared,
    method: 'PUT',
    path: '/v1/environments/:ref/secrets',
    summary: 'Replace all variables and secret files; omitted parts are dropped',
    description:
      'Variables and files that the request does not have are deleted. To change one of them, use the routes for one variable or one file.',
    params: environmentParams,
    body: z.strictObject({
      /** KEY=value lines; blank lines and # comments are skipped. */
      envContents: z.string().optional(),
      secretFiles: z
        .array(secretFile)
        .max(most.filesMax)
        .refine(
          (files) => new Set(files.map((file) => file.path)).size === files.length,
          'must have distinct paths',
        )
        .refine(
          (files) =>
            files.reduce((sum, file) => sum + field.byteLength(file.contents), 0) <= most.filesBytesMax,
          `must have at most ${most.filesBytesMax} bytes in total`,
        )
        .optional(),
    }),
    response: environment,
    errors: write,
  }),
  setEnvironmentVariable: route({
    ...shared,
    method: 'POST',
    path: '/v1/environments/:ref/vars',
    summary: 'Set one variable',
    description:
      'Adds the variable or replaces its value, in a new version of the Environment. Docks keep their version until an upgrade or a resume moves them.',
    params: environmentParams,
    body: z.strictObject({ key: variableName, value: variableValue }),
    response: environment,
    errors: write,
  }),
  removeEnvironmentVariable: route({
    ...shared,
    method: 'DELETE',
    path: '/v1/environments/:ref/vars/:key',
    summary: 'Remove one variable',
    description:
      'Makes a new version of the Environment. Docks keep their version until an upgrade or a resume moves them.',
    params: environmentParams.extend({ key: z.string() }),
    response: environment,
    errors: remove,
  }),
  setEnvironmentFile: route({
    ...shared,
    method: 'POST',
    path: '/v1/environments/:ref/files',
    summary: 'Set one secret file',
    description:
      'Adds the file or replaces its contents, in a new version of the Environment. The path is relative to the work folder in the Dock.',
    params: environmentParams,
    body: secretFile,
    response: environment,
    errors: write,
  }),
  removeEnvironmentFile: route({
    ...shared,
    method: 'DELETE',
    path: '/v1/environments/:ref/files/:path',
    summary: 'Remove one secret file',
    description: 'The path is one segment of the address, so encode each `/` in it as `%2F`.',
    params: environmentParams.extend({ path: z.string() }),
    response: environment,
    errors: remove,
  }),
  revealEnvironmentSecrets: route({
    ...shared,
    method: 'POST',
    path: '/v1/environments/:ref/secrets:reveal',
    summary: 'Read the variables and secret files of the current version in plain text',
    description: 'The response has secrets in plain text. Do not log it.',
    params: environmentParams,
    response: revealedSecrets,
    errors: ['validation_error', 'environment_not_found', 'forbidden'],
    noStore: true,
  }),
} as const
