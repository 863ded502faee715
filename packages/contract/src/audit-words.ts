/**
 * The words of the audit log: one sentence for each entry, the same in the dashboard and on the command line. Browsers load
 * this file, so it imports no zod.
 */
import type { AuditAction, AuditMeans } from './audit-actions.ts'
import type { AuditEntry } from './objects/audit.ts'

type KindOf<Action> = Action extends `${infer Kind}.${string}` ? Kind : never
export type AuditKind = KindOf<AuditAction>

/** The kinds of things that entries are about, as a filter names them. */
export const auditKinds = {
  account: 'Accounts',
  api_key: 'API keys',
  ssh_key: 'SSH keys',
  provider_key: 'Provider keys',
  organization: 'Organization',
  invitation: 'Invitations',
  member: 'Members',
  workspace: 'Workspaces',
  environment: 'Environments',
  dock: 'Docks',
  port: 'Ports',
  snapshot: 'Snapshots',
  template: 'Templates',
  webhook: 'Webhooks',
  github: 'GitHub',
  run: 'Runs',
  host: 'Hosts',
  quarantine: 'Quarantine',
} as const satisfies Record<AuditKind, string>

/** By what somebody acted. */
export const auditMeansWords = {
  session: 'browser',
  api_key: 'API key',
  dock_key: 'key of a Dock',
  ssh_key: 'SSH key',
  operator: 'server',
  platform: 'Dock itself',
} as const satisfies Record<AuditMeans, string>

/**
 * What was done, beginning with the verb. `{name}` is a detail, `{it}` the name of what was changed. A part in
 * brackets is left out if the entry lacks its detail.
 */
const sentences: Record<AuditAction, string> = {
  'account.signed_in': 'sign in[ by {method}]',
  'account.sign_in_failed': 'sign in[ as {it}][ by {method}]',
  'account.signed_out': 'sign out',
  'account.password_changed': 'change the password[ of {it}]',
  'account.closed': 'close the account[ of {it}]',
  'account.reopened': 'reopen the account[ of {it}]',
  'account.erased': 'erase the account[ of {it}]',
  'account.vouched_for': 'vouch for[ the address of {it}]',
  'account.connection_added': 'connect an account[ of {it}]',
  'account.connection_removed': 'disconnect an account[ of {it}]',
  'api_key.created': 'create the API key[ {it}]',
  'api_key.revoked': 'revoke the API key[ {it}]',
  'ssh_key.added': 'add the SSH key[ {it}]',
  'ssh_key.proved': 'prove the SSH key[ {it}]',
  'ssh_key.deleted': 'delete the SSH key[ {it}]',
  'provider_key.set': 'set the key[ of {it}]',
  'provider_key.revealed': 'reveal the key[ of {it}]',
  'provider_key.deleted': 'delete the key[ of {it}]',
  'organization.created': 'create the organization[ {it}]',
  'organization.updated': 'change the organization[ {it}]',
  'organization.deleted': 'delete the organization[ {it}]',
  'organization.retention_changed': 'change the retention of data',
  'organization.limits_changed': 'change the limits[ of {it}]',
  'organization.plan_changed': 'change the plan[ of {it}][ from {from}][ to {to}]',
  'invitation.sent': 'invite[ {it}][ as {role}]',
  'invitation.link_made': 'make an invitation link[ for {it}][ as {role}]',
  'invitation.revoked': 'withdraw the invitation[ of {it}]',
  'invitation.declined': 'decline the invitation',
  'member.joined': 'join the organization[ as {role}]',
  'member.role_changed': 'change the role[ of {it}][ from {from}][ to {to}]',
  'member.removed': 'remove[ {it}] from the organization',
  'member.left': 'leave the organization',
  'workspace.created': 'create the workspace[ {it}]',
  'workspace.updated': 'change the workspace[ {it}]',
  'workspace.deleted': 'delete the workspace[ {it}]',
  'environment.created': 'create the Environment[ {it}]',
  'environment.updated': 'change the settings of the Environment[ {it}]',
  'environment.deleted': 'delete the Environment[ {it}]',
  'environment.upgraded': 'upgrade the Docks of the Environment[ {it}]',
  'environment.contents_changed': 'change the contents of the Environment[ {it}]',
  'environment.secrets_revealed': 'reveal secrets of the Environment[ {it}]',
  'dock.created': 'create the Dock[ {it}]',
  'dock.branched': 'branch a Dock as[ {it}]',
  'dock.stopped': 'stop the Dock[ {it}]',
  'dock.resumed': 'resume the Dock[ {it}]',
  'dock.deleted': 'delete the Dock[ {it}]',
  'dock.updated': 'change the Dock[ {it}]',
  'dock.entered': 'enter the Dock[ {it}][ by {by}]',
  'port.exposed': 'expose port[ {port}][ of the Dock {it}]',
  'port.changed': 'change port[ {port}][ of the Dock {it}]',
  'port.closed': 'close port[ {port}][ of the Dock {it}]',
  'snapshot.deleted': 'delete the Snapshot[ {it}]',
  'template.created': 'create the Template[ {it}]',
  'template.deleted': 'delete the Template[ {it}]',
  'webhook.created': 'create the webhook[ {it}]',
  'webhook.deleted': 'delete the webhook[ {it}]',
  'webhook.enabled': 'enable the webhook[ {it}]',
  'webhook.secret_rotated': 'rotate the secret of the webhook[ {it}]',
  'github.app_created': 'create the GitHub App[ {it}]',
  'github.app_deleted': 'delete the GitHub App[ {it}]',
  'github.linked': 'link repositories of GitHub[: {repositories}]',
  'github.changed': 'change linked repositories of GitHub[: {repositories}]',
  'github.unlinked': 'unlink repositories of GitHub[: {repositories}]',
  'run.started': 'start the Run[ {it}]',
  'run.stopped': 'stop the Run[ {it}]',
  'run.promoted': 'promote the Run[ {it}]',
  'host.enrolled': 'enrol the host[ {it}]',
  'host.credential_reset': 'reset the credential of the host[ {it}]',
  'host.declared_lost': 'declare lost the host[ {it}]',
  'host.tested': 'test the host[ {it}]',
  'quarantine.adopted': 'adopt data from quarantine[: {it}]',
  'quarantine.deleted': 'delete data in quarantine[: {it}]',
}

const irregular: Readonly<Record<string, string>> = {
  ...{ set: 'set', reset: 'reset', make: 'made', leave: 'left', stop: 'stopped', enrol: 'enrolled' },
  ...{ withdraw: 'withdrew', do: 'did' },
}

/** Returns the verb's past tense. */
const pastOf = (verb: string): string => irregular[verb] ?? (verb.endsWith('e') ? `${verb}d` : `${verb}ed`)

const isId = (text: string): boolean => /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(text)

/** Returns the name of what an entry changed, or null if nothing can name it. */
export function auditTarget({ target }: Pick<AuditEntry, 'target'>): string | null {
  if (target === null) return null
  if (target.name) return target.name
  if (target.type === 'person') return 'an erased person'
  if (target.id === null) return null
  // The address of an erased person is replaced by an id.
  if (target.type === 'address') return isId(target.id) ? 'an erased person' : target.id
  return isId(target.id) ? target.id.slice(0, 8) : target.id
}

/** Returns who acted. */
export function auditActor({
  action,
  actor,
  through,
}: Pick<AuditEntry, 'action' | 'actor' | 'through'>): string {
  if (actor !== null) return actor.name || actor.email || 'An erased person'
  if (action === 'account.sign_in_failed') return 'Somebody'
  return through === 'operator' ? 'The operator' : 'Dock'
}

/** True if the person who acted is what was changed: the sentence names them already. */
export function isOwn({ actor, target }: Pick<AuditEntry, 'actor' | 'target'>): boolean {
  return actor !== null && target?.type === 'person' && target.id === actor.id
}

type Value = AuditEntry['details'][string]

const textOf = (value: Value): string => {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return value === null ? 'none' : String(value)
}

/** Returns `expires at` for `expiresAt`. */
const labelOf = (name: string): string =>
  name.replaceAll('_', ' ').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

/** True for the old value of a field that another detail has the new value of. */
const isBefore = (name: string, details: AuditEntry['details']): boolean =>
  name.endsWith('Before') && name.slice(0, -'Before'.length) in details

/**
 * Returns what was done, as the rest of a sentence that begins with who did it: `changed the role of Ada from member to
 * admin`. Details that the sentence does not have follow in brackets.
 */
export function auditSentence(
  entry: Pick<AuditEntry, 'action' | 'outcome' | 'actor' | 'target' | 'details'>,
): string {
  // A newer service may record actions that are not known here.
  const pattern = sentences[entry.action] ?? `do ${entry.action}[ {it}]`
  const values: Record<string, Value> = { ...entry.details, it: isOwn(entry) ? null : auditTarget(entry) }
  const used = new Set<string>()
  const sentence = pattern.replace(/\[([^\]]*?)\{(\w+)\}([^\]]*)\]/g, (_, before, name, after) => {
    const value = values[name]
    used.add(name)
    return value === undefined || value === null ? '' : `${before}${textOf(value)}${after}`
  })
  const [verb = '', ...others] = sentence.split(' ')
  const hasFailed = entry.outcome === 'failed' || entry.action === 'account.sign_in_failed'
  const done = [hasFailed ? `failed to ${verb}` : pastOf(verb), ...others].join(' ')
  const rest = Object.entries(entry.details).flatMap(([name, value]) => {
    const before = entry.details[`${name}Before`]
    if (used.has(name) || isBefore(name, entry.details)) return []
    // What is so needs no yes, and what is not so no word.
    if (/^is[A-Z]/.test(name) && typeof value === 'boolean')
      return value ? [labelOf(name).replace(/^is /, '')] : []
    return [`${labelOf(name)}: ${before === undefined ? '' : `${textOf(before)} → `}${textOf(value)}`]
  })
  return rest.length === 0 ? done : `${done} (${rest.join(', ')})`
}
