import * as z from 'zod'
import { count, timestamp, uuid } from '../fields.ts'

export const templateStatuses = ['saving', 'ready', 'failed'] as const
export type TemplateStatus = (typeof templateStatuses)[number]
export const templateStatus = z.enum(templateStatuses)

export const template = z.strictObject({
  id: uuid,
  organizationId: uuid,
  name: z.string(),
  sourceDockId: uuid.nullable(),
  status: templateStatus,
  sizeBytes: count,
  createdAt: timestamp,
  updatedAt: timestamp,
})
export type Template = z.output<typeof template>
