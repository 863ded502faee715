/** What a client may set for a session before it starts a program: variables and a terminal. */
import { limits } from '@dock/contract'
import type { TerminalSize } from '@dock/ssh-server'

const { variablesMax, variablesBytesMax } = limits.exec
const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/
const terminalName = /^[A-Za-z0-9+._-]{1,64}$/
const sizeMax = 10_000

export type Variables = {
  values: Record<string, string>
  /** Returns false if the variable is not accepted. */
  set(name: string, value: string): boolean
}

export function createVariables(): Variables {
  const values: Record<string, string> = {}
  let bytes = 0
  return {
    values,
    set: (name, value) => {
      const size = Buffer.byteLength(name) + Buffer.byteLength(value)
      const isNew = !Object.hasOwn(values, name)
      if (!variableName.test(name) || value.includes('\0') || bytes + size > variablesBytesMax) return false
      if (isNew && Object.keys(values).length >= variablesMax) return false
      bytes += size
      values[name] = value
      return true
    },
  }
}

const inRange = (value: number, usual: number): number =>
  Number.isInteger(value) && value >= 1 && value <= sizeMax ? value : usual

/** Returns a size that a terminal can have. Clients without a terminal of their own send zeros. */
export function terminalSize(wanted: TerminalSize): TerminalSize {
  return { cols: inRange(wanted.cols, 80), rows: inRange(wanted.rows, 24) }
}

/** Returns the value of TERM for what the client calls its terminal. */
export function terminalType(wanted: string | undefined): string {
  return wanted !== undefined && terminalName.test(wanted) ? wanted : 'xterm'
}
