import * as z from 'zod'

export const operationStatuses = ['pending', 'processing', 'blocked', 'completed'] as const
export type OperationStatus = (typeof operationStatuses)[number]
export const operationStatus = z.enum(operationStatuses)
export const operationTargetTypes = ['dock', 'snapshot', 'template', 'environment'] as const
export type OperationTargetType = (typeof operationTargetTypes)[number]
export const operationTargetType = z.enum(operationTargetTypes)

export const operation = z.strictObject({
  id: z.string().regex(/^op_.{20}$/),
  targetType: operationTargetType,
  targetId: z.string(),
  status: operationStatus,
})
export type Operation = z.output<typeof operation>

export const operationAnswer = z.strictObject({ operation })
