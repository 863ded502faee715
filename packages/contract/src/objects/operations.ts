import * as z from 'zod'

export const operationStatuses = ['pending', 'processing', 'blocked', 'completed'] as const
export type OperationStatus = (typeof operationStatuses)[number]
export const operationTargetTypes = ['dock', 'snapshot', 'template', 'environment'] as const
export type OperationTargetType = (typeof operationTargetTypes)[number]

export const operation = z.strictObject({
  id: z.string().regex(/^op_.{20}$/),
  targetType: z.enum(operationTargetTypes),
  targetId: z.string(),
  status: z.enum(operationStatuses),
})
export type Operation = z.output<typeof operation>

export const operationAnswer = z.strictObject({ operation })
