/**
 * Every error code of the service with its HTTP status and the sentence a caller reads when nothing more precise is
 * said. Codes are stable; `account_closed` answers 410 once the account is erased.
 */
export const errorCodes = {
  validation_error: {
    status: 400,
    message: 'Body field, query parameter or header failed validation (also unknown body fields).',
  },
  unauthorized: { status: 401, message: 'Credentials missing, invalid, expired or revoked.' },
  forbidden: { status: 403, message: 'Authenticated but not allowed.' },
  not_found: { status: 404, message: 'Resource absent or not visible.' },
  conflict: { status: 409, message: 'State does not allow the request.' },
  rate_limited: { status: 429, message: 'A rate limit was hit.' },
  internal_error: { status: 500, message: 'Unexpected failure.' },
  bad_gateway: { status: 502, message: 'Upstream answered badly.' },
  service_unavailable: { status: 503, message: 'Dependency unavailable (the rate limiter fails closed).' },
  session_required: { status: 403, message: 'Route needs a browser session.' },
  dock_key_forbidden: { status: 403, message: 'Dock-bound key used on a disallowed route.' },
  account_closed: { status: 403, message: 'Account closed or erased.' },
  confirm_required: { status: 400, message: 'Destructive call lacked its exact confirmation.' },
  image_unknown: { status: 400, message: 'Image not in the catalog.' },
  image_unavailable: { status: 400, message: 'Catalog image that no online host serves.' },
  idempotency_key_reused: { status: 409, message: 'Key reused with a different body.' },
  idempotency_in_progress: { status: 409, message: 'First request with the key still running.' },
  dock_not_found: { status: 404, message: "No such Dock (or workspace on create), or not the caller's." },
  dock_name_taken: { status: 409, message: 'Name in use in the workspace.' },
  dock_busy: { status: 409, message: 'Host busy with another operation on the Dock.' },
  dock_not_running: { status: 409, message: 'Call needs a ready Dock.' },
  dock_delete_forbidden: {
    status: 403,
    message: 'Only the creator or an organization admin may delete or stop (with retention).',
  },
  capacity_exhausted: { status: 503, message: 'No host has room for the requested cpus and memoryMiB.' },
  no_host_capacity: { status: 503, message: 'No online host can place the Dock.' },
  base_image_unavailable: { status: 503, message: 'Host lacks the base image the Snapshot needs.' },
  exec_unavailable: { status: 409, message: 'Dock has no exec agent, or a Run drives it.' },
  exec_timeout: { status: 504, message: 'Command exceeded timeoutSeconds and was killed.' },
  exec_busy: { status: 503, message: 'Host could not take the command.' },
  exec_failed: { status: 503, message: 'Host failed the command.' },
  exec_result_expired: {
    status: 409,
    message: 'Replayed command ran but its result was not kept; not rerun.',
  },
  port_not_found: { status: 404, message: 'Port not exposed.' },
  port_limit_reached: { status: 409, message: 'More than 10 ports.' },
  ports_unavailable: { status: 503, message: 'Hosted ports not configured.' },
  snapshot_not_found: { status: 404, message: 'No such Snapshot or path in it.' },
  snapshot_in_use: { status: 409, message: 'Newer Snapshot or Template depends on it.' },
  not_a_regular_file: { status: 422, message: 'Path in a Snapshot is not a regular file.' },
  file_too_large: { status: 413, message: 'File too large to return.' },
  template_not_found: { status: 404, message: 'No such ready Template.' },
  template_limit_reached: { status: 409, message: 'Organization already keeps 10 Templates.' },
  template_source_missing: { status: 409, message: "Template's Snapshot no longer exists." },
  zdr_blocks_templates: { status: 403, message: 'Templates disabled while retention is on.' },
  operation_not_found: { status: 404, message: 'No such operation or not visible.' },
  environment_not_found: { status: 404, message: 'No such Environment.' },
  environment_name_taken: { status: 409, message: 'Environment name in use.' },
  environment_secrets_admin_only: {
    status: 403,
    message: 'Environment passes secrets into Docks and only admins may launch such Docks.',
  },
  connector_admin_only: {
    status: 403,
    message: 'Members may not use connector Docks or Templates from them.',
  },
  organization_not_found: { status: 404, message: 'No such organization or not a member.' },
  workspace_not_found: { status: 404, message: 'No such workspace.' },
  workspace_not_empty: { status: 409, message: 'Workspace still holds Docks.' },
  member_not_found: { status: 404, message: 'No such member.' },
  user_not_found: { status: 404, message: 'No user with that id.' },
  invitation_not_found: {
    status: 404,
    message: 'Invitation unknown, expired, revoked, used or not addressed to the caller.',
  },
  slug_taken: { status: 409, message: 'Slug in use.' },
  seats_exceeded: { status: 409, message: 'No free seat.' },
  cannot_remove_owner: { status: 400, message: 'Organization must keep an owner.' },
  sole_owner_of_shared_org: {
    status: 409,
    message: 'Caller is the only owner of an organization with other members.',
  },
  api_key_not_found: { status: 404, message: 'No such API key.' },
  api_key_limit_reached: { status: 409, message: '20 active API keys reached.' },
  ssh_key_not_found: { status: 404, message: 'No such SSH key.' },
  ssh_key_exists: { status: 409, message: 'Key already added.' },
  ssh_key_limit_reached: { status: 409, message: '20 SSH keys reached.' },
  provider_keys_not_found: {
    status: 404,
    message: 'No key stored for the provider, or caller not a member.',
  },
  webhook_endpoint_not_found: { status: 404, message: 'No such endpoint.' },
  endpoints_exceeded: { status: 409, message: '10 endpoints per organization reached.' },
  notification_not_found: { status: 404, message: 'No such notification.' },
  last_login_method: { status: 409, message: 'Only login method cannot be removed.' },
  chatgpt_not_connected: { status: 404, message: 'No hosted-assistant subscription connected.' },
  chatgpt_signin_disabled: { status: 403, message: 'That sign-in is off on the instance.' },
  chatgpt_unavailable: { status: 502, message: 'Upstream provider unreachable or answered badly.' },
  device_code_expired: { status: 400, message: 'Device sign-in expired; start again.' },
  installation_not_found: { status: 404, message: 'No such installation (or workspace on GitHub routes).' },
  installation_not_accessible: { status: 403, message: 'Installation cannot be linked by the caller.' },
  run_not_found: { status: 404, message: 'No such Run.' },
  run_not_promotable: { status: 409, message: 'Run cannot be promoted.' },
  fast_run_disabled: { status: 503, message: 'Fast Run off on the deployment.' },
  fast_run_concurrency_exceeded: { status: 409, message: "Plan's concurrent Fast Run limit reached." },
  invalid_state: { status: 400, message: "Link or manifest state unknown, expired or not the caller's." },
  invalid_code: { status: 400, message: 'Provider rejected the manifest code.' },
  github_unavailable: { status: 502, message: 'Provider unreachable or answered badly.' },
  github_app_oauth_not_configured: {
    status: 503,
    message: 'The provider-app client id and secret settings are not set.',
  },
  unavailable: { status: 503, message: 'Link state store unavailable.' },
  instance_admin_required: { status: 403, message: 'Instance admins only.' },
  email_verification_required: { status: 403, message: 'Admin must verify email.' },
  host_not_found: { status: 404, message: 'No such host.' },
  mail_unavailable: { status: 503, message: 'Contact message could not be delivered.' },
  subscription_required: { status: 402, message: 'Active subscription needed to start compute.' },
  concurrency_exceeded: { status: 409, message: "Plan's concurrent Dock limit reached." },
  budget_exceeded: { status: 403, message: 'Monthly budget exhausted.' },
  not_implemented: { status: 501, message: 'This route is not built yet.' },
} as const satisfies Record<string, { status: number; message: string }>

export type ErrorCode = keyof typeof errorCodes

/** What goes wrong in answer to a caller: a stable code, a public sentence, and detail for the log alone. */
export class ServiceError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly detail: unknown
  constructor(
    code: ErrorCode,
    options: { message?: string; status?: number; detail?: unknown; cause?: unknown } = {},
  ) {
    super(options.message ?? errorCodes[code].message, { cause: options.cause })
    this.name = 'ServiceError'
    this.code = code
    this.status = options.status ?? errorCodes[code].status
    this.detail = options.detail
  }
}
