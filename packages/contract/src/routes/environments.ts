import * as z from 'zod'
import * as field from '../fields.ts'
import { environment, environmentVersion, secretsAccess } from '../objects/environments.ts'
import { operationAnswer } from '../objects/operations.ts'
import { route } from '../route.ts'

/** `ref` is the id or the name of an Environment. */
export const environmentParams = z.object({ ref: z.string() })

/** Required when `ref` is a name and ignored otherwise, so the handler validates it. */
export const environmentQuery = z.object({
  organizationId: z
    .string()
    .optional()
    .meta({ format: 'uuid', description: 'Required when ref is a name; ignored when ref is an id.' }),
})

export const environmentRoutes = {
  listEnvironments: route({
    method: 'GET',
    path: '/v1/environments',
    summary: 'List the Environments of an organization',
    description: 'An Environment says with which variables, secret files and repositories a Dock starts.',
    tag: 'Environments',
    access: { credentials: 'caller', scope: { organization: 'query.organizationId' }, role: 'member' },
    query: field.organizationQuery,
    response: z.array(environment),
    errors: ['validation_error', 'organization_not_found'],
  }),
  createEnvironment: route({
    method: 'POST',
    path: '/v1/environments',
    summary: 'Create an Environment; it starts empty at version 1',
    description:
      'Add its variables, files and repositories afterwards. With `secretsAccess` set to `admins`, only admins may use Docks that receive its secrets.',
    tag: 'Environments',
    access: { credentials: 'caller', scope: { organization: 'body.organizationId' }, role: 'admin' },
    status: 201,
    body: z.strictObject({
      organizationId: field.uuid,
      name: field.environmentName,
      secretsAccess: secretsAccess.default('admins'),
    }),
    response: environment,
    errors: ['validation_error', 'organization_not_found', 'environment_name_taken', 'forbidden', 'conflict'],
  }),
  readEnvironment: route({
    method: 'GET',
    path: '/v1/environments/:ref',
    summary: 'Read an Environment',
    description: 'Returns the names of variables and files, never their contents.',
    tag: 'Environments',
    access: { credentials: 'caller', scope: { environment: 'params.ref' }, role: 'member' },
    params: environmentParams,
    query: environmentQuery,
    response: environment,
    errors: ['validation_error', 'environment_not_found'],
    notFound: 'environment_not_found',
  }),
  updateEnvironment: route({
    method: 'PATCH',
    path: '/v1/environments/:ref',
    summary: 'Rename an Environment, make it the default, or change what it passes to Docks',
    description: 'Only the fields that you send change. An organization has exactly one default Environment.',
    tag: 'Environments',
    access: { credentials: 'caller', scope: { environment: 'params.ref' }, role: 'admin' },
    params: environmentParams,
    query: environmentQuery,
    body: z.strictObject({
      name: field.environmentName.optional(),
      isDefault: z.boolean().optional(),
      secretsAccess: secretsAccess.optional(),
      safeForThirdParties: z.boolean().optional(),
      passGithub: z.boolean().optional(),
      passSecrets: z.boolean().optional(),
      passDockCredentials: z.boolean().optional(),
      passAgentsCredentials: z.boolean().optional(),
    }),
    response: environment,
    errors: ['validation_error', 'environment_not_found', 'environment_name_taken', 'conflict', 'forbidden'],
    notFound: 'environment_not_found',
  }),
  deleteEnvironment: route({
    method: 'DELETE',
    path: '/v1/environments/:ref',
    summary: 'Delete an Environment; the last one cannot be deleted',
    description:
      'Its Docks keep what they have until they boot again; then they get the default Environment.',
    tag: 'Environments',
    access: { credentials: 'caller', scope: { environment: 'params.ref' }, role: 'admin' },
    params: environmentParams,
    query: environmentQuery,
    response: field.deleted,
    errors: ['validation_error', 'environment_not_found', 'forbidden'],
    notFound: 'environment_not_found',
  }),
  listEnvironmentVersions: route({
    method: 'GET',
    path: '/v1/environments/:ref/versions',
    summary: 'List the versions of an Environment, newest first',
    description: 'Each change makes a new version. `dockCount` says how many Docks use a version.',
    tag: 'Environments',
    access: { credentials: 'caller', scope: { environment: 'params.ref' }, role: 'member' },
    params: environmentParams,
    query: environmentQuery,
    response: z.array(environmentVersion),
    errors: ['validation_error', 'environment_not_found'],
    notFound: 'environment_not_found',
  }),
  upgradeEnvironment: route({
    method: 'POST',
    path: '/v1/environments/:ref/upgrade',
    summary: 'Move Docks from older versions to the current one',
    description:
      'Without `dockIds`, moves every Dock on an older version. Running Docks get the new variables and files at once. Poll the operation to see when it has completed.',
    tag: 'Environments',
    access: { credentials: 'caller', scope: { environment: 'params.ref' }, role: 'admin' },
    status: 202,
    params: environmentParams,
    query: environmentQuery,
    /** Without `dockIds`, moves every Dock on an older version. */
    body: z.strictObject({ dockIds: z.array(field.uuid).optional() }),
    response: operationAnswer,
    errors: ['validation_error', 'environment_not_found', 'dock_not_found', 'forbidden'],
    notFound: 'environment_not_found',
  }),
} as const
