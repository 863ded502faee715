/** What the audit log records. The first word names the kind of thing that was changed. */
export const auditActions = [
  ...([
    'account.signed_in',
    'account.sign_in_failed',
    'account.signed_out',
    'account.password_changed',
  ] as const),
  ...(['account.closed', 'account.reopened', 'account.erased', 'account.vouched_for'] as const),
  ...(['account.connection_added', 'account.connection_removed'] as const),
  ...(['api_key.created', 'api_key.revoked', 'ssh_key.added', 'ssh_key.proved', 'ssh_key.deleted'] as const),
  ...(['provider_key.set', 'provider_key.revealed', 'provider_key.deleted'] as const),
  ...(['organization.created', 'organization.updated', 'organization.deleted'] as const),
  ...([
    'organization.retention_changed',
    'organization.limits_changed',
    'organization.plan_changed',
  ] as const),
  ...(['invitation.sent', 'invitation.link_made', 'invitation.revoked', 'invitation.declined'] as const),
  ...(['member.joined', 'member.role_changed', 'member.removed', 'member.left'] as const),
  ...(['workspace.created', 'workspace.updated', 'workspace.deleted'] as const),
  ...(['environment.created', 'environment.updated', 'environment.deleted', 'environment.upgraded'] as const),
  ...(['environment.contents_changed', 'environment.secrets_revealed'] as const),
  ...(['dock.created', 'dock.branched', 'dock.stopped', 'dock.resumed', 'dock.deleted'] as const),
  ...(['dock.updated', 'dock.entered'] as const),
  ...(['port.exposed', 'port.changed', 'port.closed'] as const),
  ...(['snapshot.deleted', 'template.created', 'template.deleted'] as const),
  ...(['webhook.created', 'webhook.deleted', 'webhook.enabled', 'webhook.secret_rotated'] as const),
  ...(['github.app_created', 'github.app_deleted', 'github.linked', 'github.changed'] as const),
  ...(['github.unlinked', 'run.started', 'run.stopped', 'run.promoted'] as const),
  ...(['host.enrolled', 'host.credential_reset', 'host.declared_lost', 'host.tested'] as const),
  ...(['quarantine.adopted', 'quarantine.deleted'] as const),
] as const

export type AuditAction = (typeof auditActions)[number]

/** By what somebody acted. `operator`: a program on the control plane's machine. `platform`: a timer of Dock itself. */
export const auditMeans = ['session', 'api_key', 'dock_key', 'ssh_key', 'operator', 'platform'] as const
export type AuditMeans = (typeof auditMeans)[number]

/** For how long entries are kept. */
export const auditKeptDays = 400
