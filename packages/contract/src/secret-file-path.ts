/** Paths of an Environment's secret files: what callers may write, and what a Dock can take. */
import * as z from 'zod'
import { ServiceError } from './errors.ts'
import { byteLength, isPlainText } from './fields.ts'
import { limits } from './limits.ts'

/** The longest name that a filesystem in a Dock can take. */
const nameBytesMax = 255

const partsOf = (path: string): string[] => path.split('/').filter((part) => part !== '' && part !== '.')

/** Returns the path without empty parts and dots, so that one file has one path. */
export function normalizeFilePath(path: string): string {
  return partsOf(path).join('/')
}

const hasLongName = (path: string): boolean => path.split('/').some((name) => byteLength(name) > nameBytesMax)

/** A relative path without `..`, and not under `.dock/`. It is normalized first. */
export const secretFilePath = z
  .string()
  .min(limits.environment.filePathLength.min)
  .max(limits.environment.filePathLength.max)
  .refine((path) => !path.startsWith('/'), 'must be relative')
  .refine(
    (path) => isPlainText(path) && !/(^|\/)\.?$/.test(path),
    'must name a file, without control characters',
  )
  .refine((path) => !path.split('/').includes('..'), 'must not contain ..')
  .overwrite(normalizeFilePath)
  .refine((path) => path !== '__proto__', 'must not be __proto__')
  .refine((path) => !/^\.dock(\/|$)/.test(path), 'must not be under .dock/')
  .refine((path) => !hasLongName(path), `must not have a name of more than ${nameBytesMax} bytes`)

/**
 * Returns why a Dock cannot take all of these files, or null. Paths that were saved before they were normalized may have
 * such a fault.
 */
export function findFilesFault(paths: readonly string[]): string | null {
  const known = new Map<string, string>()
  for (const path of paths) {
    const normalized = normalizeFilePath(path)
    const same = known.get(normalized)
    if (normalized === '')
      return `${path} does not name a file, and goes with the next change of the Environment.`
    if (hasLongName(normalized)) return `${path} has a name of more than ${nameBytesMax} bytes.`
    if (same !== undefined) return `${path} is the same file as ${same}.`
    known.set(normalized, path)
  }
  for (const [normalized, inside] of known)
    for (let end = normalized.lastIndexOf('/'); end > 0; end = normalized.lastIndexOf('/', end - 1)) {
      const file = known.get(normalized.slice(0, end))
      if (file !== undefined) return `${file} cannot be both a file and the folder of ${inside}.`
    }
  return null
}

/** Throws `validation_error` if no Dock can take all of these files of an Environment version, and says what to do. */
export function requireApplicableFiles(paths: readonly string[]): void {
  const fault = findFilesFault(paths)
  if (fault === null) return
  throw new ServiceError('validation_error', {
    message: `No Dock can take the secret files of this version of the Environment: ${fault} An admin can remove the file. Then name the Environment in the field environment, so that the Dock gets the new version.`,
  })
}
