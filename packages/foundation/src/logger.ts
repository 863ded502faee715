/** Structured logs: one JSON object per line, with secret fields redacted by name. */
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
 * Writes lines to a file descriptor and drops lines that cannot be written. pino's own destination would retry the line
 * ten times a second on a full disk and block the whole process.
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
        // A service must keep running without its log.
      }
    },
  }
}

/** Creates the logger of a process. The environment variable `LOG_LEVEL` sets the level (default `info`). */
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
