/** Structured logs, one JSON object a line, secrets blanked out by name. */
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

/** A logger for one process. `LOG_LEVEL` sets the level (default `info`). */
export const createLogger = (name: string, destination?: DestinationStream): Logger =>
  pino(
    {
      name,
      level: process.env.LOG_LEVEL ?? 'info',
      redact: {
        paths: secretFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]),
        censor: '[redacted]',
      },
    },
    destination ?? pino.destination(2),
  )
