/** Queries of names that are bytes, and queries of text. */
import { type Route, routes, ServiceError } from '@dock/contract'
import { expect, it } from 'vitest'
import { validateQuery } from './validate.ts'

const pathIn = (search: string): unknown => {
  try {
    return (validateQuery(routes.readDockFile, search) as { path: string }).path
  } catch (error) {
    return error instanceof ServiceError ? error.message : error
  }
}

it('keeps every byte of a path', () => {
  expect(pathIn('?path=/a%FF%20b+c%0A%C3%A9')).toBe('/a\udcff b c\né')
  expect(pathIn('?path=/a=b%3D&')).toBe('/a=b=')
  expect(pathIn('?path=/50%&x=1')).toBe('/50%')
  expect(pathIn('?path=/%EF%BB%BFx')).toBe('/\ufeffx')
})

it('refuses what is no path', () => {
  expect(pathIn('')).toBe('path: required')
  expect(pathIn('?path=a')).toBe('path: must be an absolute path')
  expect(pathIn('?path=/a%00')).toBe('path: contains the character NUL')
  expect(pathIn('?path=/a&path=/b')).toBe('path: given more than once')
  expect(pathIn(`?path=/${'%FF'.repeat(4096)}`)).toMatch(/^path: /)
  expect(pathIn(`?path=/${'%C3%A9'.repeat(2048)}`)).toBe('path: must be at most 4096 bytes')
})

it('decodes the query of every other route as URLSearchParams does', () => {
  const route: Route = routes.readSnapshotFile
  expect(validateQuery(route, '?path=/a%FF+b')).toEqual({ path: '/a\ufffd b' })
})
