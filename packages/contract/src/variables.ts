/** Environment variables that callers give: which names they may use, and how much they may weigh. */
import * as z from 'zod'
import { byteLength } from './fields.ts'
import { limits } from './limits.ts'

/** Names that the platform sets itself or that would change how its shell starts. */
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

/** Names that begin with this belong to the platform. */
export const reservedVariablePrefix = 'DOCK_'

const reserved: ReadonlySet<string> = new Set(reservedVariableNames)

/** Whether the platform keeps this name for itself, or cannot keep it: objects lose a field named `__proto__`. */
export function isReservedVariableName(name: string): boolean {
  return reserved.has(name) || name.startsWith(reservedVariablePrefix) || name === '__proto__'
}

/** A name that a caller may set. */
export const variableName = z
  .string()
  .max(limits.variableNameLengthMax)
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must start with a letter or _ and hold only letters, digits and _')
  .refine((name) => !isReservedVariableName(name), 'is reserved by the platform')

// No process can be started with a NUL in its environment.
export const variableValue = z
  .string()
  .refine((value) => !value.includes('\0'), 'must not hold a NUL character')

/** Bytes of all names and values together. */
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
    .refine((value) => Object.keys(value).length <= countMax, `must hold at most ${countMax} variables`)
    .refine((value) => variablesBytes(value) <= bytesMax, `must hold at most ${bytesMax} bytes in all`)
}
