import { ConnectionError, DockApiError, DockError } from '@dock/sdk'
import { expect, it } from 'vitest'
import { exitCodeAroundCommand, exitCodeOf } from './exit-codes.ts'
import { LocalError, SignInFirst, UsageError } from './failures.ts'

const api = (code: string, status: number): DockApiError => new DockApiError(code, status, '')

it.each([
  [new UsageError(''), 2, 2],
  [new SignInFirst(''), 4, 4],
  [new LocalError('x', ''), 1, 255],
  [new Error(''), 1, 255],
  [api('unauthorized', 401), 4, 4],
  [api('session_required', 403), 4, 4],
  [api('forbidden', 403), 1, 255],
  [api('validation_error', 400), 2, 2],
  [api('dock_not_found', 404), 5, 5],
  [api('snapshot_not_found', 404), 5, 5],
  [new DockError('not_found', ''), 5, 5],
  [api('dock_busy', 409), 6, 6],
  [api('dock_not_running', 409), 6, 6],
  [api('rate_limited', 429), 6, 6],
  [api('exec_busy', 503), 6, 6],
  [api('capacity_exhausted', 503), 7, 255],
  [api('no_host_capacity', 503), 7, 255],
  [api('concurrency_exceeded', 409), 7, 255],
  [api('internal_error', 500), 1, 255],
  [api('bad_response', 502), 1, 255],
  [new ConnectionError('', undefined), 1, 255],
])('%s exits with %i, and with %i around a command', (error, code, around) => {
  expect([exitCodeOf(error), exitCodeAroundCommand(error)]).toEqual([code, around])
})
