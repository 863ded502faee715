import { expect, it } from 'vitest'
import { trustedOriginsOf } from './trusted-origins.ts'

it('has every name of a loopback address, with its port and scheme', () => {
  const all = ['http://localhost:8080', 'http://127.0.0.1:8080', 'http://[::1]:8080']
  for (const url of all) expect(trustedOriginsOf(url)).toEqual(all)
  expect(trustedOriginsOf('http://localhost/app')).toContain('http://127.0.0.1')
})

it('has only the address itself for every other server', () => {
  expect(trustedOriginsOf('https://dock.example.com/app')).toEqual(['https://dock.example.com'])
  expect(trustedOriginsOf('http://localhost.example.com:8080')).toEqual(['http://localhost.example.com:8080'])
})
