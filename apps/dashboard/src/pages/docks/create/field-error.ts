/** Finds the field of the form that a refusal of the service is about. */
import { DockApiError } from '@dock/sdk'

const fields = ['name', 'image', 'from', 'cpus', 'memoryMiB', 'diskGiB', 'env', 'setupScript'] as const
type FieldName = (typeof fields)[number]
export type FieldErrors = { readonly [Name in FieldName]?: string }

const byCode: Readonly<Record<string, FieldName>> = {
  dock_name_taken: 'name',
  image_unknown: 'image',
  image_unavailable: 'image',
  template_not_found: 'from',
  template_not_ready: 'from',
}

/** Returns the sentence of the error by its field; nothing if it is about no field. */
export function fieldErrorOf(error: unknown): FieldErrors {
  if (!(error instanceof DockApiError)) return {}
  const known = byCode[error.code]
  if (known) return { [known]: error.message }
  const [, field = '', text = ''] = /^(\w+)[\w.[\]]*: (.*)$/s.exec(error.message) ?? []
  const found = fields.find((name) => name === field)
  return error.code === 'validation_error' && found ? { [found]: text } : {}
}
