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
 * What was done, beginning with the verb. `{name}` is a detail, `{target}` the name of what was changed. A part in
 * brackets is left out if the entry lacks its detail.
 */
const sentences: Record<AuditAction, string> = {
  'account.signed_in': 'sign in[ by {method}]',
  'account.sign_in_failed': 'sign in[ as {target}][ by {method}]',
  'account.signed_out': 'sign out',
  'account.password_changed': 'change the password[ of {target}]',
  'account.closed': 'close the account[ of {target}]',
  'account.reopened': 'reopen the account[ of {target}]',
  'account.erased': 'erase the account[ of {target}]',
  'account.vouched_for': 'vouch for[ the address of {target}]',
  'account.connection_added': 'connect an account[ of {target}]',
  'account.connection_removed': 'disconnect an account[ of {target}]',
  'api_key.created': 'create the API key[ {target}]',
  'api_key.revoked': 'revoke the API key[ {target}]',
  'ssh_key.added': 'add the SSH key[ {target}]',
  'ssh_key.proved': 'prove the SSH key[ {target}]',
  'ssh_key.deleted': 'delete the SSH key[ {target}]',
  'provider_key.set': 'set the key[ of {target}]',
  'provider_key.revealed': 'reveal the key[ of {target}]',
  'provider_key.deleted': 'delete the key[ of {target}]',
  'organization.created': 'create the organization[ {target}]',
  'organization.updated': 'change the organization[ {target}]',
  'organization.deleted': 'delete the organization[ {target}]',
  'organization.retention_changed': 'change the retention of data',
  'organization.limits_changed': 'change the limits[ of {target}]',
  'organization.plan_changed': 'change the plan[ of {target}][ from {from}][ to {to}]',
  'invitation.sent': 'invite[ {target}][ as {role}]',
  'invitation.link_made': 'make an invitation link[ for {target}][ as {role}]',
  'invitation.revoked': 'withdraw the invitation[ of {target}]',
  'invitation.declined': 'decline the invitation',
  'member.joined': 'join the organization[ as {role}]',
  'member.role_changed': 'change the role[ of {target}][ from {from}][ to {to}]',
  'member.removed': 'remove[ {target}] from the organization',
  'member.left': 'leave the organization',
  'workspace.created': 'create the workspace[ {target}]',
  'workspace.updated': 'change the workspace[ {target}]',
  'workspace.deleted': 'delete the workspace[ {target}]',
  'environment.created': 'create the Environment[ {target}]',
  'environment.updated': 'change the settings of the Environment[ {target}]',
  'environment.deleted': 'delete the Environment[ {target}]',
  'environment.upgraded': 'upgrade the Docks of the Environment[ {target}]',
  'environment.contents_changed': 'change the contents of the Environment[ {target}]',
  'environment.secrets_revealed': 'reveal secrets of the Environment[ {target}]',
  'dock.created': 'create the Dock[ {target}]',
  'dock.branched': 'branch a Dock as[ {target}]',
  'dock.stopped': 'stop the Dock[ {target}]',
  'dock.resumed': 'resume the Dock[ {target}]',
  'dock.deleted': 'delete the Dock[ {target}]',
  'dock.updated': 'change the Dock[ {target}]',
  'dock.entered': 'enter the Dock[ {target}][ by {by}]',
  'port.exposed': 'expose port[ {port}][ of the Dock {target}]',
  'port.changed': 'change port[ {port}][ of the Dock {target}]',
  'port.closed': 'close port[ {port}][ of the Dock {target}]',
  'snapshot.deleted': 'delete the Snapshot[ {target}]',
  'template.created': 'create the Template[ {target}]',
  'template.deleted': 'delete the Template[ {target}]',
  'webhook.created': 'create the webhook[ {target}]',
  'webhook.deleted': 'delete the webhook[ {target}]',
  'webhook.enabled': 'enable the webhook[ {target}]',
  'webhook.secret_rotated': 'rotate the secret of the webhook[ {target}]',
  'github.app_created': 'create the GitHub App[ {target}]',
  'github.app_deleted': 'delete the GitHub App[ {target}]',
  'github.linked': 'link repositories of GitHub[: {target}]',
  'github.changed': 'change linked repositories of GitHub[: {target}]',
  'github.unlinked': 'unlink repositories of GitHub[: {target}]',
  'run.started': 'start the Run[ {target}]',
  'run.stopped': 'stop the Run[ {target}]',
  'run.promoted': 'promote the Run[ {target}]',
  'host.enrolled': 'enrol the host[ {target}]',
  'host.credential_reset': 'reset the credential of the host[ {target}]',
  'host.declared_lost': 'declare lost the host[ {target}]',
  'host.tested': 'test the host[ {target}]',
  'quarantine.adopted': 'adopt data from quarantine[: {target}]',
  'quarantine.deleted': 'delete data in quarantine[: {target}]',
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

type Value = AuditEntry['details'][string]

const textOf = (value: Value): string => {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return value === null ? 'none' : String(value)
}

/** Returns `expires at` for `expiresAt`. */
const labelOf = (name: string): string =>
  name.replaceAll('_', ' ').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

/**
 * Returns what was done, as the rest of a sentence that begins with who did it: `changed the role of Ada from member to
 * admin`. Details that the sentence does not have follow in brackets.
 */
export function auditSentence(entry: Pick<AuditEntry, 'action' | 'outcome' | 'target' | 'details'>): string {
  // A newer service may record actions that are not known here.
  const pattern = sentences[entry.action] ?? `do ${entry.action}[ {target}]`
  const values: Record<string, Value> = { ...entry.details, target: auditTarget(entry) }
  const used = new Set(['target'])
  const sentence = pattern.replace(/\[([^\]]*?)\{(\w+)\}([^\]]*)\]/g, (_, before, name, after) => {
    const value = values[name]
    used.add(name)
    return value === undefined || value === null ? '' : `${before}${textOf(value)}${after}`
  })
  const [verb = '', ...others] = sentence.split(' ')
  const hasFailed = entry.outcome === 'failed' || entry.action === 'account.sign_in_failed'
  const done = [hasFailed ? `failed to ${verb}` : pastOf(verb), ...others].join(' ')
  const rest = Object.entries(entry.details).filter(([name]) => !used.has(name))
  if (rest.length === 0) return done
  return `${done} (${rest.map(([name, value]) => `${labelOf(name)}: ${textOf(value)}`).join(', ')})`
}
