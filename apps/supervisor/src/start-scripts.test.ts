/** What the shell scripts protect: settings, addresses, downloads. */
import { execFile, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readSettings } from './settings.ts'

const scripts = resolve(import.meta.dirname, '../../../script')

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dock-scripts-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const set = (file: string, key: string, value: string) =>
  spawnSync('bash', ['-c', 'umask 022; exec "$@"', 'sh', join(scripts, 'install/setting'), file, key, value])

it('replaces a stored setting in a file that only its owner can read, and leaves no temporary file', () => {
  const file = join(folder, 'config.env')
  expect(set(file, 'DEFAULT_IMAGE', 'debian-13').status).toBe(0)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  writeFileSync(file, 'DOCK_SECRET_KEYS=k1:x\nDEFAULT_IMAGE=debian-13\n')
  chmodSync(file, 0o644)
  chownSync(file, 65_534, 65_534)
  expect(set(file, 'DEFAULT_IMAGE', 'ubuntu-24.04').status).toBe(0)
  expect(readFileSync(file, 'utf8')).toBe('DOCK_SECRET_KEYS=k1:x\nDEFAULT_IMAGE=ubuntu-24.04\n')
  expect(statSync(file)).toMatchObject({ uid: 65_534, gid: 65_534, mode: 0o100600 })
  expect(readdirSync(folder)).toEqual(['config.env'])
})

it('reads settings in the other scripts as the server does', async () => {
  writeFileSync(
    join(folder, 'config.env'),
    '# DOCK_SECRET_KEYS=no\nDOCK_SECRET_KEYS=k1:x\n  DOCK_SECRET_KEYS= k2:y,k1:x== \t\nDATABASE_URL=postgresql://a@b/c\n',
  )
  const names = ['DOCK_SECRET_KEYS', 'DATABASE_URL', 'PORT'] as const
  const read = (environment: Record<string, string>) =>
    spawnSync(
      'bash',
      [
        '-c',
        'set -euo pipefail; root=$1; shift; source "$root/script/use-database"; for n; do echo "$(setting "$n")"; done',
        ...['sh', join(scripts, '..'), ...names],
      ],
      { env: { PATH: process.env.PATH, DOCK_DATA_DIR: folder, ...environment }, encoding: 'utf8' },
    ).stdout.split('\n')
  for (const environment of [{}, { DOCK_SECRET_KEYS: 'k3:z', PORT: '81' }, { DOCK_SECRET_KEYS: '' }]) {
    const settings = await readSettings({ DOCK_DATA_DIR: folder, ...environment }, folder)
    const asServer = names.map((name) => settings.environment[name] ?? '')
    expect(read(environment).slice(0, names.length)).toEqual(asServer)
  }
})

it('passes every setting of the control plane through sudo', () => {
  const sudo = join(folder, 'sudo')
  writeFileSync(sudo, '#!/bin/sh\necho "$1"\n')
  chmodSync(sudo, 0o755)
  // Map root to another user inside the namespace. It is root outside, so that it can read the checkout anywhere.
  const { stdout } = spawnSync(
    'unshare',
    ['--user', '--map-user=1000', '--', 'bash', join(scripts, 'server')],
    { env: { PATH: `${folder}:/usr/bin:/bin`, DOCK_DATA_DIR: folder }, encoding: 'utf8' },
  )
  const kept = new Set(stdout.trim().replace('--preserve-env=', '').split(','))
  expect(kept).toContain('DOCK_DATA_DIR')
  const source = readFileSync(join(scripts, '../apps/control-plane/src/config/environment.ts'), 'utf8')
  const names = [...source.matchAll(/^ {2}([A-Z][A-Z_]+):/gm)].map(([, name]) => name!)
  expect(names).toContain('GITLAB_CLIENT_SECRET')
  expect(names.filter((name) => !name.startsWith('DOCK_') && !kept.has(name))).toEqual([])
})

it('script/host refuses another machine over plain http before it does anything else', () => {
  // There is neither root nor sudo, so an accepted address fails at that check.
  cpSync('/usr/bin/dirname', join(folder, 'dirname'))
  const said = (address: string, environment: NodeJS.ProcessEnv = {}): string =>
    spawnSync(
      '/usr/bin/unshare',
      ['--user', '--map-user=1000', '--', '/bin/bash', join(scripts, 'host'), address],
      {
        env: { PATH: folder, ...environment },
        encoding: 'utf8',
      },
    ).stderr
  const passed = /needs root/
  for (const bad of [
    'http://dock.example.com',
    'http://127.0.0.1.example.com',
    'http://127.0.0.1@example.com',
  ]) {
    expect(said(bad)).toMatch(/is plain http/)
    expect(said(bad, { DOCK_PLAIN_HTTP: 'on' })).toMatch(passed)
  }
  for (const good of ['https://dock.example.com', 'http://localhost:8080', 'http://127.0.0.1:8080/'])
    expect(said(good)).toMatch(passed)
})

it('does not install a Node package that differs from the lock file', async () => {
  // A registry that serves another package under the expected name and version.
  const { version, name } = { version: '24.21.0', name: `node-linux-${process.arch}` }
  const evil = join(folder, 'package')
  mkdirSync(join(evil, 'bin'), { recursive: true })
  writeFileSync(join(evil, 'package.json'), JSON.stringify({ name, version, bin: { node: 'bin/node' } }))
  writeFileSync(join(evil, 'bin/node'), `#!/bin/sh\necho v${version}\n`, { mode: 0o755 })
  const tarball = join(folder, 'package.tgz')
  expect(spawnSync('tar', ['-czf', tarball, '-C', folder, 'package']).status).toBe(0)
  let served = 0
  const registry = createServer((request, response) => {
    if (request.url?.endsWith('.tgz')) {
      served += 1
      return void response.end(readFileSync(tarball))
    }
    const dist = { tarball: `${url}/package.tgz` }
    response.end(
      JSON.stringify({
        name,
        'dist-tags': { latest: version },
        versions: { [version]: { name, version, dist } },
      }),
    )
  })
  await new Promise<void>((done) => registry.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`
  const target = join(folder, 'tools')
  const { code, said } = await new Promise<{ code: number; said: string }>((done) => {
    const environment = {
      ...process.env,
      npm_config_registry: url,
      npm_config_cache: join(folder, 'cache'),
      npm_config_fetch_retries: '0',
    }
    execFile(join(scripts, 'install/node'), [target], { env: environment }, (error, stdout, stderr) =>
      done({ code: typeof error?.code === 'number' ? error.code : 0, said: stdout + stderr }),
    )
  })
  await new Promise((done) => registry.close(done))
  expect(said).toMatch(/could not be fetched, or is not the package/)
  expect(code).toBe(1)
  expect(served).toBeGreaterThan(0)
  expect(existsSync(join(target, 'node_modules', name))).toBe(false)
})
