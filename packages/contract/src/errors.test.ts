import { expect, test } from 'vitest'
import { type ErrorCode, errorCodes, ServiceError } from './errors.ts'
import type { Route } from './route.ts'
import { routes } from './routes.ts'

const all = Object.entries(errorCodes)

test('every code has a failure status and full sentences', () => {
  for (const [code, { status, message }] of all) {
    expect(code).toMatch(/^[a-z0-9_]+$/)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(message).toMatch(/^[A-Z].+\.$/)
  }
})

test('every not-found code of a route has status 404', () => {
  for (const route of Object.values(routes) as Route[]) {
    const codes: ErrorCode[] = [
      ...(route.notFound ? [route.notFound] : []),
      ...Object.values(route.paramNotFound ?? {}),
    ]
    for (const code of codes) expect(errorCodes[code].status, route.path).toBe(404)
  }
})

test('an error has the status and message of its code unless they are overridden', () => {
  expect(new ServiceError('dock_busy')).toMatchObject({ status: 409, message: errorCodes.dock_busy.message })
  expect(new ServiceError('account_closed', { status: 410, message: 'Erased.' })).toMatchObject({
    code: 'account_closed',
    status: 410,
    message: 'Erased.',
  })
})
