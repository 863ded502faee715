import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findConnection, isPlainToAnotherMachine, serviceAddress } from './connection.ts'
import { readDockFile } from './dock-file.ts'
import { webAddress } from './open-page.ts'
import { configFile, isReadableByOthers, readConfiguration, writeConfiguration } from './profiles.ts'

let folder: string
let env: Record<string, string>
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dock-cli-'))
  env = { HOME: folder }
})
afterEach(() => rm(folder, { recursive: true }))

describe('the configuration', () => {
  it('can be read by its owner alone, and leaves no other file', async () => {
    await mkdir(join(folder, '.config/dock'), { recursive: true, mode: 0o755 })
    await writeFile(configFile(env), '{"profiles":{}}', { mode: 0o644 })
    await writeConfiguration(env, {
      current: 'a',
      profiles: { a: { url: 'https://a', apiKey: 'secret-key' } },
    })
    expect((await stat(configFile(env))).mode & 0o777).toBe(0o600)
    expect((await stat(join(folder, '.config/dock'))).mode & 0o777).toBe(0o700)
    expect(await readdir(join(folder, '.config/dock'))).toEqual(['config.json'])
    expect(await readConfiguration(env)).toMatchObject({
      current: 'a',
      profiles: { a: { apiKey: 'secret-key' } },
    })
  })

  it('replaces a link instead of writing through it', async () => {
    const other = join(folder, 'other')
    await mkdir(join(folder, '.config/dock'), { recursive: true })
    await writeFile(other, 'untouched')
    await symlink(other, configFile(env))
    await writeConfiguration(env, { profiles: {} })
    expect(await readFile(other, 'utf8')).toBe('untouched')
  })

  it('is not used if others could have written it', async () => {
    await writeConfiguration(env, { profiles: {} })
    for (const mode of [0o620, 0o602]) {
      await chmod(configFile(env), mode)
      await expect(readConfiguration(env)).rejects.toThrow('Others can change')
    }
    await chmod(configFile(env), 0o644)
    expect(await readConfiguration(env)).toEqual({ profiles: {} })
    expect(await isReadableByOthers(env)).toBe(true)
    if (process.getuid?.() !== 0) return
    await chown(configFile(env), 12_345, 12_345)
    await expect(readConfiguration(env)).rejects.toThrow('belongs to another user')
  })

  it('says that it is damaged', async () => {
    await mkdir(join(folder, '.config/dock'), { recursive: true })
    for (const text of ['', '[]', '{"profiles":{"a":{"url":1}}}']) {
      await writeFile(configFile(env), text)
      await expect(readConfiguration(env)).rejects.toThrow('is damaged')
    }
  })

  it('lies where XDG_CONFIG_HOME says', () => {
    expect(configFile({ XDG_CONFIG_HOME: '/x' })).toBe('/x/dock/config.json')
    expect(configFile({ XDG_CONFIG_HOME: 'relative', HOME: '/h' })).toBe('/h/.config/dock/config.json')
  })
})

describe('the connection', () => {
  beforeEach(() =>
    writeConfiguration(env, {
      current: 'one',
      profiles: {
        one: { url: 'https://one.test', apiKey: 'key-of-one' },
        two: { url: 'https://two.test', apiKey: 'key-of-two' },
      },
    }),
  )

  it('is the current profile, or the one that is named', async () => {
    expect(await findConnection(env)).toEqual({
      url: 'https://one.test',
      apiKey: 'key-of-one',
      profile: 'one',
    })
    expect(await findConnection(env, 'two')).toMatchObject({ apiKey: 'key-of-two' })
    for (const name of ['three', '__proto__', 'constructor'])
      await expect(findConnection(env, name)).rejects.toThrow('There is no profile')
  })

  it('never sends a key to another service', async () => {
    expect(await findConnection({ ...env, DOCK_URL: 'https://two.test/' })).toMatchObject({
      apiKey: 'key-of-two',
    })
    await expect(findConnection({ ...env, DOCK_URL: 'https://evil.test' })).rejects.toThrow(
      'There is no key for',
    )
    await expect(findConnection({ ...env, DOCK_URL: 'http://one.test' })).rejects.toThrow(
      'There is no key for',
    )
  })

  it('comes from the environment', async () => {
    const given = { ...env, DOCK_URL: 'https://three.test', DOCK_API_KEY: 'key' }
    expect(await findConnection(given)).toEqual({ url: 'https://three.test', apiKey: 'key' })
  })

  it('is missing', async () => {
    await expect(findConnection({ HOME: '/nowhere' })).rejects.toThrow('Sign in first')
  })
})

it('writes addresses in one way, and refuses what is none', () => {
  expect(serviceAddress('dock.example.com')).toBe('https://dock.example.com')
  expect(serviceAddress('HTTP://Localhost:80/a//')).toBe('http://localhost/a')
  for (const text of ['ftp://a', 'javascript:alert(1)', 'https://a:b@c', 'https://c?d', ''])
    expect(() => serviceAddress(text)).toThrow('address')
})

it('knows which addresses others can listen to', () => {
  for (const url of [
    'http://localhost:1',
    'http://127.0.0.1',
    'http://[::1]:8',
    'http://a.localhost',
    'https://a',
  ])
    expect(isPlainToAnotherMachine(url), url).toBe(false)
  for (const url of [
    'http://dock.example.com',
    'http://127.0.0.1.evil.test',
    'http://10.0.0.1',
    'http://localhost.evil',
  ])
    expect(isPlainToAnotherMachine(url), url).toBe(true)
})

it('opens web pages alone', () => {
  expect(webAddress('https://a.test/x y')).toBe('https://a.test/x%20y')
  for (const text of ['file:///etc/passwd', 'javascript:1', '-x', 'vscode://x', 'https//a'])
    expect(() => webAddress(text)).toThrow('no web page')
})

describe('.dock', () => {
  it('names the Dock of its folder and of those below', async () => {
    await mkdir(join(folder, 'a/b'), { recursive: true })
    await writeFile(join(folder, 'a/.dock'), 'web\n')
    expect(await readDockFile(join(folder, 'a/b'))).toBe('web')
    expect(await readDockFile(folder)).toBeUndefined()
  })

  it('is refused if another user owns it, and if it is a link', async () => {
    const file = join(folder, '.dock')
    await writeFile(file, 'web')
    if (process.getuid?.() === 0) {
      await chown(file, 12_345, 12_345)
      await expect(readDockFile(folder)).rejects.toThrow('belongs to another user')
      await rm(file)
    } else await rm(file)
    await writeFile(join(folder, 'target'), 'web')
    await symlink(join(folder, 'target'), file)
    await expect(readDockFile(folder)).rejects.toThrow('cannot be read')
  })

  it('is ignored if it is the data folder of a server, and refused if it is no name', async () => {
    await mkdir(join(folder, '.dock'))
    expect(await readDockFile(folder)).toBeUndefined()
    await rm(join(folder, '.dock'), { recursive: true })
    for (const text of ['', 'a\nb', 'x'.repeat(2000)]) {
      await writeFile(join(folder, '.dock'), text)
      await expect(readDockFile(folder)).rejects.toThrow()
    }
    await chmod(join(folder, '.dock'), 0o600)
  })
})
