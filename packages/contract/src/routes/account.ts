import * as z from 'zod'
import * as field from '../fields.ts'
import { limits } from '../limits.ts'
import { identity, loginConnection, profile, retention } from '../objects/account.ts'
import { route } from '../route.ts'

/** The confirmation phrase for erasing an account. */
export const eraseConfirmation = 'erase my account data'
/** The confirmation phrase for turning zero data retention on. */
export const retentionConfirmation = 'delete archived dock data'

export const accountRoutes = {
  readMe: route({
    method: 'GET',
    path: '/v1/me',
    summary: "Read the caller's identity",
    description: 'Shows whose API key or session the request carries. Useful to check a key.',
    tag: 'Account',
    access: { credentials: 'caller', scope: 'person' },
    response: identity,
    errors: [],
  }),
  readProfile: route({
    method: 'GET',
    path: '/v1/me/profile',
    summary: "Read the caller's profile",
    description: 'The profile is what other members of your organizations see.',
    tag: 'Account',
    access: { credentials: 'caller', scope: 'person' },
    response: profile,
    errors: ['not_found'],
  }),
  updateProfile: route({
    method: 'PATCH',
    path: '/v1/me/profile',
    summary: "Change the caller's profile",
    description: 'Only the fields that you send change. An avatar must be an http or https address.',
    tag: 'Account',
    access: { credentials: 'caller', scope: 'person', unverified: true },
    body: z.strictObject({
      displayName: field.profileName.optional(),
      avatarUrl: field.avatarUrl.optional(),
      bio: z.string().max(limits.bioLengthMax).optional(),
    }),
    response: profile,
    errors: ['validation_error', 'not_found'],
  }),
  listConnections: route({
    method: 'GET',
    path: '/v1/me/connections',
    summary: "List the caller's ways to sign in",
    description: 'Each entry is a provider account, or the email and password, with which you can sign in.',
    tag: 'Account',
    access: { credentials: 'caller', scope: 'person' },
    response: z.strictObject({ connections: z.array(loginConnection) }),
    errors: [],
  }),
  removeConnection: route({
    method: 'DELETE',
    path: '/v1/me/connections/:id',
    summary: 'Remove a way to sign in; the password cannot be removed',
    description: 'You can then no longer sign in with it. Your last way to sign in cannot be removed.',
    tag: 'Account',
    access: { credentials: 'caller', scope: 'person' },
    params: z.object({ id: z.string() }),
    response: z.strictObject({ removed: z.boolean() }),
    errors: ['last_login_method'],
  }),
  closeAccount: route({
    method: 'POST',
    path: '/v1/account/close',
    summary: 'Close the account; its data is kept for 30 days',
    description:
      'Stops your running Docks, revokes your API keys, and removes your SSH keys and sessions. Reopen the account before `purgeAt`, or its data is deleted.',
    tag: 'Account',
    access: { credentials: 'session', scope: 'person', unverified: true },
    status: 202,
    response: z.strictObject({ closed: z.literal(true), purgeAt: field.timestamp }),
    errors: ['session_required', 'account_closed', 'sole_owner_of_shared_org'],
    noStore: true,
  }),
  reopenAccount: route({
    method: 'POST',
    path: '/v1/account/reopen',
    summary: 'Reopen a closed account',
    description: 'Returns `reopened: false` if the account is not closed.',
    tag: 'Account',
    access: { credentials: 'caller', scope: 'person', closedAccount: true, unverified: true },
    response: z.strictObject({ reopened: z.boolean() }),
    errors: ['account_closed'],
  }),
  eraseAccount: route({
    method: 'POST',
    path: '/v1/account/erase',
    summary: 'Erase the account permanently',
    description:
      'Deletes the account and all its data at once. This cannot be undone. Send the confirmation phrase in the body.',
    tag: 'Account',
    access: { credentials: 'session', scope: 'person', closedAccount: true, unverified: true },
    status: 202,
    // Optional so that a missing phrase fails with confirm_required, like a wrong one.
    body: z.strictObject({
      confirmation: z
        .string()
        .optional()
        .meta({ description: `Required. Must be: ${eraseConfirmation}` }),
    }),
    response: z.strictObject({ erased: z.literal(true) }),
    errors: ['session_required', 'confirm_required', 'account_closed', 'sole_owner_of_shared_org'],
  }),
  readRetention: route({
    method: 'GET',
    path: '/v1/account/retention',
    summary: 'Read whether zero data retention is on for the organization',
    description: 'With zero data retention, stopping a Dock deletes its data, and Templates are disabled.',
    tag: 'Account',
    access: { credentials: 'caller', scope: { organization: 'query.organizationId' }, role: 'member' },
    query: field.organizationQuery,
    response: retention,
    errors: ['validation_error', 'organization_not_found'],
    noStore: true,
  }),
  updateRetention: route({
    method: 'PATCH',
    path: '/v1/account/retention',
    summary: 'Turn zero data retention on or off',
    description:
      'Turning it on deletes the archived Docks and the Templates of the organization, so it needs a confirmation phrase.',
    tag: 'Account',
    access: { credentials: 'session', scope: { organization: 'query.organizationId' }, role: 'owner' },
    query: field.organizationQuery,
    body: z.strictObject({
      enabled: z.boolean(),
      confirmation: z
        .string()
        .optional()
        .meta({ description: `Required to turn it on. Must be: ${retentionConfirmation}` }),
    }),
    response: retention,
    errors: [
      'validation_error',
      'session_required',
      'organization_not_found',
      'forbidden',
      'confirm_required',
    ],
    noStore: true,
  }),
} as const
