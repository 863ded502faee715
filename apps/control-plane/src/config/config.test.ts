import { expect, it } from 'vitest'
import { readConfig } from './config.ts'

const database = { DATABASE_URL: 'postgresql://x/y' }

it('has a default for everything but the database', () => {
  expect(readConfig(database)).toMatchObject({
    port: 8080,
    bind: '127.0.0.1',
    apiUrl: 'http://127.0.0.1:8080',
    defaultImage: 'ubuntu-24.04',
    embeddedHost: true,
    signUp: 'invite',
    social: {},
    adminEmails: [],
  })
})

it('names the variable to correct', () => {
  expect(() => readConfig({})).toThrow('DATABASE_URL')
  expect(() => readConfig({ ...database, PORT: '70000' })).toThrow('PORT')
  expect(() => readConfig({ ...database, DOCK_TRUSTED_PROXIES: 'proxy.test' })).toThrow(
    'DOCK_TRUSTED_PROXIES',
  )
  expect(() => readConfig({ ...database, REDIS_URL: 'http://x' })).toThrow('REDIS_URL')
  expect(() => readConfig({ ...database, DEFAULT_IMAGE: 'no image' })).toThrow('DEFAULT_IMAGE')
})

it('reads the times of copies', () => {
  const config = readConfig({
    ...database,
    DOCK_TEST_COPY_AGE_SECONDS: '0',
    DOCK_TEST_COPY_RETRY_SECONDS: '0.2',
  })
  expect(config.copies).toMatchObject({ ageMs: 0, retryMs: 200, sweepEveryMs: 600_000 })
  expect(() => readConfig({ ...database, DOCK_TEST_COPY_AGE_SECONDS: '-1' })).toThrow(
    'DOCK_TEST_COPY_AGE_SECONDS',
  )
})

it('reads lists, addresses and empty values', () => {
  const config = readConfig({
    ...database,
    INSTANCE_ADMIN_EMAILS: ' A@x.test, b@x.test,,',
    DOCK_BIND: '::',
    PORT: '81',
    SMTP_URL: '',
    DOCK_TRUSTED_PROXIES: '10.0.0.0/8, ::1',
    DOCK_APP_URL: 'https://dock.example.test/',
  })
  expect(config.adminEmails).toEqual(['a@x.test', 'b@x.test'])
  expect(config.apiUrl).toBe('http://127.0.0.1:81')
  expect(config.appUrl).toBe('https://dock.example.test')
  expect(config.smtpUrl).toBeUndefined()
  expect(config.trustedProxies).toEqual(['10.0.0.0/8', '::1'])
})

it('requires both the id and the secret of a social sign-in', () => {
  const github = { GITHUB_CLIENT_ID: 'id', GITHUB_CLIENT_SECRET: 'secret' }
  expect(readConfig({ ...database, ...github }).social).toEqual({
    github: { clientId: 'id', clientSecret: 'secret', url: 'https://github.com' },
  })
  expect(() => readConfig({ ...database, GOOGLE_CLIENT_ID: 'id' })).toThrow('GOOGLE_CLIENT_SECRET')
})

it('allows webhooks to loopback only where the API itself is on loopback', () => {
  const setting = { DOCK_ALLOW_INSECURE_WEBHOOKS: 'loopback' }
  expect(readConfig({ ...database, ...setting }).allowLoopbackWebhooks).toBe(true)
  expect(readConfig(database).allowLoopbackWebhooks).toBe(false)
  for (const open of [{ DOCK_BIND: '0.0.0.0' }, { DOCK_PUBLIC_URL: 'https://dock.example.test' }])
    expect(() => readConfig({ ...database, ...setting, ...open })).toThrow('DOCK_ALLOW_INSECURE_WEBHOOKS')
  expect(() => readConfig({ ...database, DOCK_ALLOW_INSECURE_WEBHOOKS: 'yes' })).toThrow(
    'DOCK_ALLOW_INSECURE_WEBHOOKS',
  )
})
