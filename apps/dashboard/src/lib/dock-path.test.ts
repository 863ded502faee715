import { expect, it } from 'vitest'
import { fromAddress, joinPath, nameIn, parentOf, resolveLink, stepsTo, toAddress } from './dock-path.ts'

it('joins and splits paths', () => {
  expect([joinPath('/', 'a'), joinPath('/a', 'b')]).toEqual(['/a', '/a/b'])
  expect([parentOf('/a'), parentOf('/a/b'), parentOf('/')]).toEqual(['/', '/a', '/'])
  expect(nameIn('/a/b c')).toBe('b c')
  expect(stepsTo('/a/b').map(({ path }) => path)).toEqual(['/', '/a', '/a/b'])
})

it('resolves links within the root', () => {
  expect(resolveLink('/a/link', 'b')).toBe('/a/b')
  expect(resolveLink('/a/link', '../../../etc')).toBe('/etc')
  expect(resolveLink('/a/link', '/etc/./hosts')).toBe('/etc/hosts')
})

it.each(['/plain', '/100%', '/%FF', '/a\udcff\udc80b', '/%25', '/ü/😀'])(
  '%j passes the address bar',
  (path) => {
    expect(toAddress(path).isWellFormed()).toBe(true)
    expect(fromAddress(toAddress(path))).toBe(path)
  },
)

it('shows the work folder for an address that is no path', () => {
  expect(fromAddress('../etc')).toBe('/home/user/work')
})
