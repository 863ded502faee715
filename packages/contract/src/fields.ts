/** Field schemas that objects and routes share. */
import * as z from 'zod'
import { roles } from './access.ts'
import { limits } from './limits.ts'

const encoder = new TextEncoder()

/** Returns the length of `text` in bytes of UTF-8. */
export function byteLength(text: string): number {
  return encoder.encode(text).length
}

/** Accepts either case and converts to lower case (RFC 9562), so that every id has one spelling as a key. */
export const uuid = z.uuid().toLowerCase()
/** ISO 8601 in UTC, as the service writes it. */
export const timestamp = z.iso.datetime()
export const integer = z.int()
export const count = z.int().min(0)

/** Text of at most `max` bytes of UTF-8. `.max(max)` rejects early: a text never has more characters than bytes. */
export function textOfBytes(min: number, max: number) {
  return z
    .string()
    .min(min)
    .max(max)
    .refine((text) => byteLength(text) <= max, `must be at most ${max} bytes`)
}

/**
 * Returns true if `text` is one line that every program displays the same way: no control characters, lone surrogates,
 * line separators or bidirectional marks.
 */
export function isPlainText(text: string): boolean {
  return /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]*$/u.test(text)
}

/** A name that people read in lists, titles and emails: one line, not blank. */
const shownName = (min: number, max: number) =>
  z
    .string()
    .min(min)
    .max(max)
    .refine((text) => text.trim() !== '', 'must not be blank')
    .refine(isPlainText, 'must be one line, without control characters or text direction marks')

export const cpus = z.int().min(limits.cpus.min).max(limits.cpus.max)
export const memoryMiB = z.int().min(limits.memoryMiB.min).max(limits.memoryMiB.max)
export const diskGiB = z.int().min(limits.diskGiB.min).max(limits.diskGiB.max)
/** Seconds from ready until the automatic stop; null for none. */
export const ttlSeconds = z.int().min(limits.ttlSeconds.min).max(limits.ttlSeconds.max).nullable()

export const displayableName = shownName(limits.nameLength.min, limits.nameLength.max)
export const dockName = shownName(1, limits.dockNameLengthMax)
export const profileName = shownName(limits.displayNameLength.min, limits.displayNameLength.max)
/** Other users load it as an image, so only http and https are allowed: no scheme that could run a script. */
export const avatarUrl = z
  .url({ protocol: /^https?$/ })
  .max(limits.avatarUrlLengthMax)
  .refine(isPlainText)
/** Name or id of the Environment that a Dock starts with. */
export const environmentReference = z.string().min(1).max(limits.environmentReferenceLengthMax)
const environmentNameLength = limits.environment.nameLength
export const environmentName = z
  .string()
  .regex(
    new RegExp(`^[a-z0-9_-]{${environmentNameLength.min},${environmentNameLength.max}}$`),
    `must be ${environmentNameLength.min} to ${environmentNameLength.max} lowercase letters, digits, dashes or underscores`,
  )
export const templateName = z
  .string()
  .trim()
  .regex(
    /^[a-z0-9][a-z0-9_-]{1,62}[a-z0-9]$/,
    'must be 3 to 64 lowercase letters, digits, dashes or underscores, with a letter or digit at both ends',
  )
export const slug = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/,
    'must be 3 to 63 lowercase letters, digits or hyphens, with a letter or digit at both ends',
  )
export const role = z.enum(roles)
export const runtimeName = z.enum(['microvm', 'gvisor'])
export type RuntimeName = z.infer<typeof runtimeName>

/** The value of an `idempotency-key` header. */
export const idempotencyKey = z
  .string()
  .min(limits.idempotencyKeyLength.min)
  .max(limits.idempotencyKeyLength.max)

const isDigits = (value: unknown): boolean => typeof value === 'string' && /^-?\d{1,15}$/.test(value)

/** An integer in a query or path, written in decimal digits; `0x10` and `1e3` are refused. */
export function queryInteger(min: number, max: number) {
  return z
    .custom<number>(isDigits, 'must be an integer')
    .pipe(z.coerce.number<number>().int().min(min).max(max))
    .meta({ type: 'integer', minimum: min, maximum: max })
}

/** `true` or `false` in a query. */
export const queryBoolean = z
  .stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive' })
  .meta({ type: 'boolean' })

/** Query of a paged list: `cursor` is the `nextCursor` of the previous page. */
export const pageQuery = z.object({
  limit: queryInteger(limits.page.min, limits.page.max).default(limits.page.default),
  cursor: z.string().min(1).optional(),
})
export const nextCursor = z.string().nullable()

export const organizationQuery = z.object({ organizationId: uuid })

export const deleted = z.strictObject({ deleted: z.literal(true) })
export const removed = z.strictObject({ removed: z.literal(true) })
