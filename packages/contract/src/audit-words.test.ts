import { expect, it } from 'vitest'
import { auditActions } from './audit-actions.ts'
import { auditActor, auditSentence, auditTarget } from './audit-words.ts'
import type { AuditEntry } from './objects/audit.ts'

const id = '11111111-aaaa-4aaa-8aaa-aaaaaaaaaaaa'
const entry = (action: AuditEntry['action'], more: Partial<AuditEntry> = {}) => ({
  ...{ action, outcome: 'succeeded' as const, target: { type: 'x', id, name: 'web' }, details: {} },
  ...{ actor: { id, name: 'Ada', email: 'ada@example.test' }, through: 'session' as const },
  ...more,
})
const ada = { type: 'person', id: id.replace('1', '2'), name: 'Ada' }

it.each([
  [
    entry('member.role_changed', { target: ada, details: { from: 'member', to: 'admin' } }),
    'changed the role of Ada from member to admin',
  ],
  [entry('dock.stopped'), 'stopped the Dock web'],
  [
    entry('dock.created', { outcome: 'failed', details: { code: 'no_host_capacity' } }),
    'failed to create the Dock web (code: no_host_capacity)',
  ],
  [entry('account.sign_in_failed', { target: ada }), 'failed to sign in as Ada'],
  [entry('account.signed_in', { target: null, details: { method: 'password' } }), 'signed in by password'],
  [
    entry('invitation.sent', {
      target: { type: 'address', id: 'bob@example.test', name: null },
      details: { role: 'admin' },
    }),
    'invited bob@example.test as admin',
  ],
  [
    entry('api_key.created', { details: { expiresAt: null, isBound: true } }),
    'created the API key web (expires at: none, bound)',
  ],
  [entry('dock.resumed', { target: { type: 'dock', id, name: null } }), 'resumed the Dock 11111111'],
  [
    entry('provider_key.set', { target: { type: 'provider', id: 'openrouter', name: null } }),
    'set the key of openrouter',
  ],
  [
    entry('dock.updated', {
      details: { name: 'web', nameBefore: 'api', ttlSeconds: null, ttlSecondsBefore: 60 },
    }),
    'changed the Dock web (name: api → web, ttl seconds: 60 → none)',
  ],
  [
    entry('account.password_changed', { target: { ...ada, id }, details: { isNew: false } }),
    'changed the password',
  ],
  [entry('run.started', { details: { target: 'dock' } }), 'started the Run web (target: dock)'],
  [entry('organization.retention_changed', { target: null }), 'changed the retention of data'],
])('is a sentence: %#', (given, sentence) => {
  expect(auditSentence(given)).toBe(sentence)
})

it.each(auditActions)('has a sentence for %s with and without a target', (action) => {
  for (const target of [ada, null]) {
    const sentence = auditSentence(entry(action, { target }))
    expect(sentence).toMatch(/^[a-z]+(ed|t|de|ew) ?[^[\]{}]*$/)
    expect(sentence).not.toMatch(/ {2}| $|undefined|null/)
  }
})

it('has text for an action that is newer than it', () => {
  expect(auditSentence(entry('dock.painted' as never))).toBe('did dock.painted web')
})

it('names who acted, also if nobody can be named', () => {
  expect(auditActor(entry('dock.created'))).toBe('Ada')
  expect(auditActor(entry('dock.created', { actor: { id, name: null, email: null } }))).toBe(
    'An erased person',
  )
  expect(auditActor(entry('organization.limits_changed', { actor: null, through: 'operator' }))).toBe(
    'The operator',
  )
  expect(auditActor(entry('account.sign_in_failed', { actor: null, through: 'platform' }))).toBe('Somebody')
})

it('names no erased person', () => {
  for (const type of ['person', 'address'])
    expect(auditTarget({ target: { type, id, name: null } })).toBe('an erased person')
})
