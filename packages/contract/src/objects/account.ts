import * as z from 'zod'
import { alertType } from '../events.ts'
import { count, nextCursor, timestamp, uuid } from '../fields.ts'

/** The address of the SSH gateway. */
export const sshAddress = z.strictObject({ host: z.string(), port: z.int() })
/** The domain whose subdomains reach exposed ports. */
export const portsDomain = z.strictObject({ domain: z.string() })

export const config = z.strictObject({
  apiUrl: z.string(),
  appUrl: z.string(),
  billingEnabled: z.boolean(),
  authProviders: z.array(z.string()),
  /** `log` when no mail host is set. */
  mailDelivery: z.string(),
  githubAppConfigured: z.boolean(),
  /** null when the SSH gateway is off. */
  ssh: sshAddress.nullable(),
  /** null when hosted ports are off. */
  ports: portsDomain.nullable(),
  chatgptSignIn: z.boolean(),
})
export type Config = z.output<typeof config>

export const identity = z.strictObject({
  // The sign-in library is configured to create uuids.
  id: uuid,
  email: z.string(),
  emailVerified: z.boolean(),
  providers: z.array(z.string()),
  instanceAdmin: z.boolean(),
})
export type Identity = z.output<typeof identity>

export const profile = z.strictObject({
  userId: uuid,
  displayName: z.string(),
  avatarUrl: z.string().nullable(),
  bio: z.string(),
  createdAt: timestamp,
  updatedAt: timestamp,
})
export type Profile = z.output<typeof profile>

/** A way to sign in. `primary` is true for email and password. */
export const loginConnection = z.strictObject({
  id: z.string(),
  provider: z.string(),
  identifier: z.string(),
  primary: z.boolean(),
  linkedAt: timestamp,
})
export type LoginConnection = z.output<typeof loginConnection>

export const notification = z.strictObject({
  id: uuid,
  eventId: uuid,
  type: alertType,
  title: z.string(),
  body: z.string(),
  dockId: uuid,
  linkPath: z.string(),
  read: z.boolean(),
  occurredAt: timestamp,
})
export type Notification = z.output<typeof notification>

export const notificationPage = z.strictObject({
  notifications: z.array(notification),
  nextCursor,
  /** Counts the whole inbox, not only this page. */
  unreadCount: count,
})
export type NotificationPage = z.output<typeof notificationPage>

/** Whether zero data retention is on. */
export const retention = z.strictObject({ enabled: z.boolean() })
export type Retention = z.output<typeof retention>

/** `enabled` is the organization's setting, `emailEnabled` the caller's. */
export const notificationPreference = z.strictObject({
  type: alertType,
  audience: z.string(),
  enabled: z.boolean(),
  emailEnabled: z.boolean(),
})
export type NotificationPreference = z.output<typeof notificationPreference>
