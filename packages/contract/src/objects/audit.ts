/** The audit log: an extension, not part of the specification. */
import * as z from 'zod'
import { auditActions, auditMeans } from '../audit-actions.ts'
import * as field from '../fields.ts'

export const auditAction = z.enum(auditActions)

export const auditActor = z.strictObject({
  id: field.uuid,
  name: z.string().nullable(),
  email: z.string().nullable(),
})

export const auditTarget = z.strictObject({
  type: z.string(),
  id: z.string().nullable(),
  name: z.string().nullable(),
})

export const auditEntry = z.strictObject({
  id: field.uuid,
  at: field.timestamp,
  organizationId: field.uuid.nullable(),
  /** Null once the organization is deleted. */
  organizationName: z.string().nullable(),
  action: auditAction,
  outcome: z.enum(['succeeded', 'failed']),
  /** Who acted. Null if no person did. Name and address are null once the person is erased: the id is then a pseudonym. */
  actor: auditActor.nullable(),
  through: z.enum(auditMeans),
  /** Id of the API key, session or SSH key. */
  credentialId: z.string().nullable(),
  /** The address from which the request came. */
  address: z.string().nullable(),
  /** What was changed. The name is that of the time of the entry. */
  target: auditTarget.nullable(),
  /** What else is known, by action: for example the old and the new role. Never a secret, and no content of a command. */
  details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
})
export type AuditEntry = z.output<typeof auditEntry>

export const auditPage = z.strictObject({ entries: z.array(auditEntry), nextCursor: field.nextCursor })
export type AuditPage = z.output<typeof auditPage>

/** What entries a caller asks for. */
export const auditFilter = {
  /** An action, or the kind of thing before its point: `member.removed`, or `member`. */
  action: z
    .string()
    .regex(/^[a-z_]{1,40}(\.[a-z_]{1,40})?$/)
    .optional(),
  actorId: field.uuid.optional(),
  /** Id of what was changed. */
  targetId: z.string().min(1).max(100).optional(),
  since: field.timestamp.optional(),
  until: field.timestamp.optional(),
}
