import * as z from 'zod'
import { role, timestamp, uuid } from '../fields.ts'

const organizationFields = {
  id: uuid,
  name: z.string(),
  slug: z.string(),
  seats: z.int().min(1),
  createdAt: timestamp,
  updatedAt: timestamp,
}

/** The response of an update. */
export const organizationWithoutRole = z.strictObject(organizationFields)
export type OrganizationWithoutRole = z.output<typeof organizationWithoutRole>

/** `role` is the caller's role. */
export const organization = z.strictObject({ ...organizationFields, role })
export type Organization = z.output<typeof organization>

export const workspace = z.strictObject({
  id: uuid,
  organizationId: uuid,
  name: z.string(),
  slug: z.string(),
  createdAt: timestamp,
  updatedAt: timestamp,
})
export type Workspace = z.output<typeof workspace>

export const member = z.strictObject({
  userId: uuid,
  email: z.string(),
  role,
  createdAt: timestamp,
  updatedAt: timestamp,
})
export type Member = z.output<typeof member>

/** A member with the name that the person chose. Extension: not part of the specification. */
export const namedMember = member.extend({ name: z.string() })
export type NamedMember = z.output<typeof namedMember>

export const membership = z.strictObject({
  organizationId: uuid,
  userId: uuid,
  role,
  createdAt: timestamp,
  updatedAt: timestamp,
})
export type Membership = z.output<typeof membership>

export const invitation = z.strictObject({
  id: uuid,
  email: z.string(),
  role,
  expiresAt: timestamp,
  createdAt: timestamp,
})
export type Invitation = z.output<typeof invitation>

/** An invitation with its new link. Extension: not part of the specification. */
export const linkedInvitation = invitation.extend({ link: z.string() })
export type LinkedInvitation = z.output<typeof linkedInvitation>

/** An invitation as the invited person sees it. */
export const invitationPreview = z.strictObject({
  id: uuid,
  organizationName: z.string(),
  role,
  expiresAt: timestamp,
})
export type InvitationPreview = z.output<typeof invitationPreview>

/** What the holder of an invitation's link may know before they sign in. Extension: not part of the specification. */
export const invitationGreeting = z.strictObject({
  organizationName: z.string(),
  /** The name of the person who invited. Null if unknown. */
  invitedBy: z.string().nullable(),
  role,
  expiresAt: timestamp,
})
export type InvitationGreeting = z.output<typeof invitationGreeting>

export const invitationAccepted = z.strictObject({ organizationId: uuid, role })
export const invitationDeclined = z.strictObject({ declined: z.literal(true) })
