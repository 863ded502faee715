/** Structured logs, one JSON object a line, secrets blanked out by name. */
import { writeSync } from 'node:fs'
import { type DestinationStream, type Logger, pino } from 'pino'

export type { Logger }

const secretFields = [
  'authorization',
  'cookie',
  'password',
  'apiKey',
  'credential',
  'token',
  'ticket',
  'secret',
  'env',
  'command',
  'setupScript',
]

/**
 * Writes lines to a descriptor, and drops what cannot be written: on a full disk pino's own destination tries the same
 * line again and again, ten times a second, while the whole process waits.
 */
export function linesTo(descriptor: number): DestinationStream {
  let isCut = false
  return {
    write: (line) => {
      let bytes = Buffer.from(isCut ? `\n${line}` : line)
      try {
        while (bytes.length > 0) {
          bytes = bytes.subarray(writeSync(descriptor, bytes))
          isCut = bytes.length > 0
        }
      } catch {
        // The service goes on without its log.
      }
    },
  }
}

/** A logger for one process. `LOG_LEVEL` sets the level (default `info`). */
export function createLogger(name: string, destination?: DestinationStream): Logger {
  return pino(
    {
      name,
      level: process.env.LOG_LEVEL ?? 'info',
      redact: {
        paths: secretFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]),
        censor: '[redacted]',
      },
    },
    destination ?? linesTo(2),
  )
}
