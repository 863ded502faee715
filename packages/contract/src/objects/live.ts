/** Extensions, not part of the specification: what the dashboard's live stream sends. */
import * as z from 'zod'
import { uuid } from '../fields.ts'

export const liveKinds = [
  'dock',
  'snapshot',
  'port',
  'template',
  'environment',
  'workspace',
  'organization',
  'member',
  'membership',
  'invitation',
  'notification',
  'webhook',
  'delivery',
  'host',
  'run',
  'run_log',
  'installation',
  'quarantine',
  'plan',
] as const
export type LiveKind = (typeof liveKinds)[number]

/** Something that changed. The page reads it again; the stream carries no contents. */
export const liveChange = z.strictObject({
  kind: z.enum(liveKinds),
  /**
   * Id of the object; for `port` the Dock, for `member` the person, for `delivery` the webhook endpoint, for `run_log`
   * the Run. Empty for `quarantine` and `plan`, and for `host` if Docks of some hosts changed.
   */
  id: z.string(),
  organizationId: uuid.nullable(),
  /** The Dock that the object belongs to. */
  dockId: uuid.nullable(),
})
export type LiveChange = z.output<typeof liveChange>
