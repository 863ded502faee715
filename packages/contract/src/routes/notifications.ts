import * as z from 'zod'
import { alertType } from '../events.ts'
import * as field from '../fields.ts'
import { notificationPage, notificationPreference } from '../objects/account.ts'
import { route } from '../route.ts'

export const notificationRoutes = {
  listNotifications: route({
    method: 'GET',
    path: '/v1/notifications',
    summary: "List the caller's notifications, newest first",
    description:
      'If `nextCursor` is not null, send it as `cursor` to get the next page. `unreadCount` counts the whole inbox.',
    tag: 'Notifications',
    access: { credentials: 'caller', scope: 'person' },
    query: field.pageQuery,
    response: notificationPage,
    errors: ['validation_error'],
  }),
  markAllNotificationsRead: route({
    method: 'POST',
    path: '/v1/notifications/read-all',
    summary: 'Mark every notification as read',
    description: 'Returns how many were unread.',
    tag: 'Notifications',
    access: { credentials: 'caller', scope: 'person', unverified: true },
    response: z.strictObject({ updated: field.count }),
    errors: [],
  }),
  markNotificationRead: route({
    method: 'POST',
    path: '/v1/notifications/:id/read',
    summary: 'Mark one notification as read',
    description: 'A notification that is already read stays read.',
    tag: 'Notifications',
    access: { credentials: 'caller', scope: 'person', unverified: true },
    params: z.object({ id: field.uuid }),
    response: z.strictObject({ id: field.uuid, read: z.literal(true) }),
    errors: ['notification_not_found'],
    notFound: 'notification_not_found',
  }),
  readNotificationPreferences: route({
    method: 'GET',
    path: '/v1/notifications/preferences',
    summary: 'Read which alerts are on, and which are also emailed',
    description: 'Each alert has a setting of the organization, and one of your own for email.',
    tag: 'Notifications',
    access: { credentials: 'caller', scope: { organization: 'query.organizationId' }, role: 'member' },
    query: field.organizationQuery,
    response: z.strictObject({ organizationId: field.uuid, preferences: z.array(notificationPreference) }),
    errors: ['validation_error', 'organization_not_found'],
  }),
  setOrganizationNotificationPreference: route({
    method: 'PUT',
    path: '/v1/notifications/preferences/organization',
    summary: 'Turn an alert on or off for the organization',
    description: 'An alert that is off for the organization is sent to nobody in it.',
    tag: 'Notifications',
    access: { credentials: 'session', scope: { organization: 'body.organizationId' }, role: 'admin' },
    body: z.strictObject({ organizationId: field.uuid, type: alertType, enabled: z.boolean() }),
    response: z.strictObject({ organizationId: field.uuid, type: alertType, enabled: z.boolean() }),
    errors: ['validation_error', 'session_required', 'organization_not_found', 'forbidden'],
  }),
  setPersonalNotificationPreference: route({
    method: 'PUT',
    path: '/v1/notifications/preferences/personal',
    summary: "Turn the caller's emails for an alert on or off",
    description: 'Changes only your emails, not your inbox.',
    tag: 'Notifications',
    access: { credentials: 'caller', scope: 'person', unverified: true },
    body: z.strictObject({ type: alertType, emailEnabled: z.boolean() }),
    response: z.strictObject({ type: alertType, emailEnabled: z.boolean() }),
    errors: ['validation_error'],
  }),
} as const
