/**
 * Every error code of the service with its HTTP status and default message. Codes are stable. `account_closed` has
 * status 410 once the account is erased.
 */
export const errorCodes = {
  validation_error: {
    status: 400,
    message: 'The request is not valid. Check its fields, query and headers against /openapi.json.',
  },
  unauthorized: {
    status: 401,
    message: 'Credentials are missing, invalid, expired or revoked. Send a valid API key or sign in.',
  },
  forbidden: {
    status: 403,
    message: 'Your role does not allow this. Ask an admin or owner of the organization.',
  },
  not_found: { status: 404, message: 'There is nothing here, or you may not see it. Check the address.' },
  conflict: {
    status: 409,
    message: 'The current state does not allow this. Read the resource and try again.',
  },
  rate_limited: { status: 429, message: 'Too many requests. Wait a moment and retry.' },
  internal_error: {
    status: 500,
    message: 'Something went wrong on our side. Retry. If it fails again, send the request id to support.',
  },
  bad_gateway: {
    status: 502,
    message: 'An upstream service returned an invalid response. Retry in a moment.',
  },
  service_unavailable: {
    status: 503,
    message: 'A service that this request needs is not available. Retry in a moment.',
  },
  session_required: { status: 403, message: 'API keys may not do this. Sign in with a browser.' },
  dock_key_forbidden: {
    status: 403,
    message: "A Dock's own key may only read that Dock, its ports and its stats. Use a personal API key.",
  },
  account_closed: { status: 403, message: 'This account is closed. Reopen it to continue.' },
  confirm_required: {
    status: 400,
    message: 'To confirm, send the header x-confirm-delete with the id that is being deleted.',
  },
  image_unknown: { status: 400, message: 'There is no such image. Choose one from GET /v1/images.' },
  image_unavailable: {
    status: 400,
    message:
      'No online host has this image. Choose one from GET /v1/images. The operator builds an image with script/image NAME.',
  },
  idempotency_key_reused: {
    status: 409,
    message: 'This idempotency key was used with a different request. Use a new key.',
  },
  idempotency_in_progress: {
    status: 409,
    message: 'The first request with this idempotency key is still running. Retry shortly.',
  },
  dock_not_found: {
    status: 404,
    message: 'There is no such Dock or workspace, or you may not see it. Check the id.',
  },
  dock_name_taken: {
    status: 409,
    message: 'Another Dock in the workspace has this name. Choose another name.',
  },
  dock_busy: { status: 409, message: 'Another operation on this Dock is in progress. Retry shortly.' },
  dock_not_running: { status: 409, message: 'The Dock is not ready. Wait until it is, or resume it.' },
  dock_delete_forbidden: {
    status: 403,
    message: "Only the Dock's creator or an admin of the organization may do this. Ask one of them.",
  },
  capacity_exhausted: {
    status: 503,
    message: 'No host has room for this size now. Choose a smaller size or retry later.',
  },
  no_host_capacity: { status: 503, message: 'No online host can take this Dock now. Retry later.' },
  base_image_unavailable: {
    status: 503,
    message: 'No host has the image that the Snapshot needs. Retry later.',
  },
  exec_unavailable: {
    status: 409,
    message: 'Commands cannot run in this Dock: it has no exec agent, or a Run controls it.',
  },
  exec_timeout: {
    status: 504,
    message: 'The command ran longer than timeoutSeconds and was killed. Allow more time or split it.',
  },
  exec_busy: { status: 503, message: 'The host could not take the command. Retry shortly.' },
  exec_failed: { status: 503, message: 'The host could not run the command. Retry.' },
  exec_result_expired: {
    status: 409,
    message:
      'The command with this key has run or may have run, and its result is not stored. Look at what it did before you run it again with a new key.',
  },
  port_not_found: { status: 404, message: 'This port is not exposed. List the ports of the Dock.' },
  port_limit_reached: { status: 409, message: 'A Dock exposes at most 10 ports. Stop exposing one first.' },
  ports_unavailable: { status: 503, message: 'Hosted ports are off on this instance. Ask its operator.' },
  snapshot_not_found: {
    status: 404,
    message: 'There is no such completed Snapshot, or no such path in it. Check the id and the path.',
  },
  snapshot_in_use: {
    status: 409,
    message:
      'A newer Snapshot, a Template or an operation needs this Snapshot. Delete it, or wait for the operation.',
  },
  not_a_regular_file: {
    status: 422,
    message: "This path is not a regular file. Choose one from the Snapshot's tree.",
  },
  file_too_large: { status: 413, message: 'The file is too large to return. Resume the Dock to read it.' },
  template_not_found: {
    status: 404,
    message: 'There is no ready Template with this name. List the Templates.',
  },
  template_limit_reached: {
    status: 409,
    message: 'The organization already has 10 Templates. Delete one first.',
  },
  template_source_missing: {
    status: 409,
    message: "The Template's Snapshot no longer exists. Save the Template again.",
  },
  zdr_blocks_templates: {
    status: 403,
    message: 'Templates are disabled while retention is on. An owner can turn it off.',
  },
  operation_not_found: {
    status: 404,
    message: 'There is no such operation, or you may not see it. Check the id.',
  },
  environment_not_found: {
    status: 404,
    message: "There is no such Environment. List the organization's Environments.",
  },
  environment_name_taken: { status: 409, message: 'Another Environment has this name. Choose another name.' },
  environment_secrets_admin_only: {
    status: 403,
    message: 'Only admins may use Docks that receive the secrets of this Environment. Ask an admin.',
  },
  connector_admin_only: {
    status: 403,
    message: 'Only admins may use Docks with connectors and Templates made from them. Ask an admin.',
  },
  organization_not_found: {
    status: 404,
    message: 'There is no such organization, or you are not a member of it. Check the id.',
  },
  workspace_not_found: {
    status: 404,
    message: 'There is no such workspace, or you may not see it. Check the id.',
  },
  workspace_not_empty: { status: 409, message: 'The workspace still holds Docks. Delete them first.' },
  member_not_found: { status: 404, message: 'The organization has no such member. List its members.' },
  user_not_found: { status: 404, message: 'There is no user with this id. Invite by email instead.' },
  invitation_not_found: {
    status: 404,
    message: 'The invitation is unknown, used, revoked, expired or not for you. Ask for a new one.',
  },
  slug_taken: { status: 409, message: 'This slug is in use. Choose another.' },
  seats_exceeded: {
    status: 409,
    message: 'The organization has no free seat. Raise its seats or remove a member.',
  },
  cannot_remove_owner: {
    status: 400,
    message: 'An organization must have an owner. Make someone else an owner first.',
  },
  sole_owner_of_shared_org: {
    status: 409,
    message: 'You are the only owner of an organization with other members. Make one of them an owner first.',
  },
  api_key_not_found: { status: 404, message: 'There is no such API key. List your keys.' },
  api_key_limit_reached: { status: 409, message: 'You already have 20 active API keys. Revoke one first.' },
  ssh_key_not_found: { status: 404, message: 'There is no such SSH key. List your keys.' },
  ssh_key_exists: {
    status: 409,
    message: 'This SSH key is in your account or in another one already. Add a different key.',
  },
  ssh_key_limit_reached: { status: 409, message: 'You already have 20 SSH keys. Delete one first.' },
  provider_keys_not_found: {
    status: 404,
    message: 'No key is stored for this provider, or you are not a member of the organization. Check both.',
  },
  webhook_endpoint_not_found: {
    status: 404,
    message: "There is no such webhook endpoint. List the organization's endpoints.",
  },
  endpoints_exceeded: {
    status: 409,
    message: 'The organization already has 10 webhook endpoints. Remove one first.',
  },
  notification_not_found: { status: 404, message: 'There is no such notification. List your notifications.' },
  last_login_method: { status: 409, message: 'This is your only way to sign in. Link another first.' },
  chatgpt_not_connected: {
    status: 404,
    message: 'No hosted-assistant subscription is connected. Connect one first.',
  },
  chatgpt_signin_disabled: { status: 403, message: 'This sign-in is off on the instance. Ask its operator.' },
  chatgpt_unavailable: {
    status: 502,
    message: 'The provider is unreachable or returned an invalid response. Retry in a moment.',
  },
  device_code_expired: { status: 400, message: 'The device sign-in has expired. Start again.' },
  installation_not_found: {
    status: 404,
    message: 'There is no such installation or workspace, or you may not see it. Check the id.',
  },
  installation_not_accessible: {
    status: 403,
    message: 'You may not link this installation. Ask its admin at the provider.',
  },
  run_not_found: { status: 404, message: 'There is no such Run, or you may not see it. Check the id.' },
  run_not_promotable: {
    status: 409,
    message: 'This Run cannot be promoted in its current state. Start a new one.',
  },
  fast_run_disabled: { status: 503, message: 'Fast Runs are off on this instance. Ask its operator.' },
  fast_run_concurrency_exceeded: {
    status: 409,
    message: "Your plan's limit of concurrent Fast Runs is reached. Wait for one to end.",
  },
  invalid_state: { status: 400, message: 'This link is unknown, expired or not yours. Start again.' },
  invalid_code: { status: 400, message: 'The provider rejected the code. Start again.' },
  github_unavailable: {
    status: 502,
    message: 'The provider is unreachable or returned an invalid response. Retry in a moment.',
  },
  github_app_oauth_not_configured: {
    status: 503,
    message: 'The provider app of this instance has no client id and secret. Ask its operator.',
  },
  unavailable: { status: 503, message: 'Linking is temporarily unavailable. Retry shortly.' },
  instance_admin_required: { status: 403, message: 'Only instance admins may do this. Ask the operator.' },
  email_verification_required: {
    status: 403,
    message:
      'Verify your email address first, with the link in your inbox. If this instance sends no mail, ask its operator.',
  },
  host_not_found: { status: 404, message: 'There is no such host. List the hosts.' },
  mail_unavailable: { status: 503, message: 'Your message could not be delivered. Retry later.' },
  subscription_required: {
    status: 402,
    message: 'Starting a Dock needs an active subscription. Start one under billing.',
  },
  concurrency_exceeded: {
    status: 409,
    message: "Your plan's limit of concurrent Docks is reached. Stop one first.",
  },
  budget_exceeded: {
    status: 403,
    message: "This month's budget is used up. Raise it or wait for the next month.",
  },
} as const satisfies Record<string, { status: number; message: string }>

export type ErrorCode = keyof typeof errorCodes

/** An error returned to the caller: a stable code, a public message, and `detail` that is only logged. */
export class ServiceError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly detail: unknown
  /** Value of the `Retry-After` header. */
  readonly retryAfterSeconds: number | undefined
  constructor(
    code: ErrorCode,
    options: {
      message?: string
      status?: number
      detail?: unknown
      cause?: unknown
      retryAfterSeconds?: number
    } = {},
  ) {
    super(options.message ?? errorCodes[code].message, { cause: options.cause })
    this.name = 'ServiceError'
    this.code = code
    this.status = options.status ?? errorCodes[code].status
    this.detail = options.detail
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}
