import { expect, it } from 'vitest'
import { readAgentSettings } from './agent-settings.ts'

const controlUrl = (DOCK_CONTROL_URL: string, more: NodeJS.ProcessEnv = {}): string =>
  readAgentSettings({ DOCK_CONTROL_URL, ...more }).controlUrl

it('allows plain http only to this machine, unless the operator permits it', () => {
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
