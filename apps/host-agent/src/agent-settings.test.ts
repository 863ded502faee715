import { expect, it } from 'vitest'
import { readAgentSettings } from './agent-settings.ts'

const controlUrl = (DOCK_CONTROL_URL: string, more: NodeJS.ProcessEnv = {}): string =>
  readAgentSettings({ DOCK_CONTROL_URL, ...more }).controlUrl

it('goes over plain http to this machine only, unless the operator allows it', () => {
  for (const good of [
    'https://dock.example.com',
    'http://localhost:8080',
    'http://127.0.0.1:8080',
    'http://[::1]:8080',
  ])
    expect(controlUrl(good)).toBe(good)
  for (const bad of [
    'http://dock.example.com',
    'http://10.0.0.1:8080',
    'http://localhost.example.com',
    'http://127.0.0.1.example.com',
    'http://127.0.0.1@example.com',
  ]) {
    expect(() => controlUrl(bad)).toThrow(/over plain http .* DOCK_PLAIN_HTTP=on/)
    expect(controlUrl(bad, { DOCK_PLAIN_HTTP: 'on' })).toBe(bad)
  }
  expect(() => controlUrl('ftp://dock.example.com')).toThrow('DOCK_CONTROL_URL')
})
