/** Environment variables from callers: allowed names and size limits. */
import * as z from 'zod'
import { byteLength } from './fields.ts'
import { limits } from './limits.ts'

/** Names that the platform sets, or that would change how its shell starts. */
export const reservedVariableNames = [
  'PATH',
  'HOME',
  'USER',
  'SHELL',
  'LOGNAME',
  'PWD',
  'OLDPWD',
  'TERM',
  'HOSTNAME',
  'IFS',
  'ENV',
  'BASH_ENV',
  'LD_PRELOAD',
  'LD_AUDIT',
  'PROMPT_COMMAND',
  'SHELLOPTS',
  'BASHOPTS',
] as const

/** Names with this prefix belong to the platform. */
export const reservedVariablePrefix = 'DOCK_'

const reserved: ReadonlySet<string> = new Set(reservedVariableNames)

/** Returns true if callers may not use the name. `__proto__` is included because plain objects cannot store it. */
export function isReservedVariableName(name: string): boolean {
  return reserved.has(name) || name.startsWith(reservedVariablePrefix) || name === '__proto__'
}

/** A name that a caller may set. */
export const variableName = z
  .string()
  .max(limits.variableNameLengthMax)
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must start with a letter or _ and contain only letters, digits and _')
  .refine((name) => !isReservedVariableName(name), 'is reserved by the platform')

// An environment entry ends at its first NUL, so a value cannot contain one.
export const variableValue = z
  .string()
  .refine((value) => !value.includes('\0'), 'must not contain a NUL character')

/** Returns the total bytes of all names and values. */
export function variablesBytes(variables: Readonly<Record<string, string>>): number {
  return Object.entries(variables).reduce(
    (sum, [name, value]) => sum + byteLength(name) + byteLength(value),
    0,
  )
}

/** An object of variables with at most `countMax` entries and `bytesMax` bytes of names and values. */
export function variables(countMax: number, bytesMax: number) {
  return z
    .record(variableName, variableValue)
    .refine((value) => Object.keys(value).length <= countMax, `must have at most ${countMax} variables`)
    .refine((value) => variablesBytes(value) <= bytesMax, `must have at most ${bytesMax} bytes in total`)
}
