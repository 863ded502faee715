/** What script/server prints on a machine that cannot start Dock, up to the point where it would build an image. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'

const script = resolve(import.meta.dirname, '../../../script/server')

let folder: string
let dataDir: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dock-start-'))
  dataDir = join(folder, 'data')
  mkdirSync(dataDir)
})
afterEach(() => rmSync(folder, { recursive: true }))

type Started = { code: number | null; said: string }

/** Runs script/server in a new mount namespace, after the shell command `prepare`. */
const start = (prepare: string, environment: Record<string, string> = {}): Started => {
  const inside = ['bash', '-ec', `${prepare}\nexec "$0"`, script]
  const { status, stdout, stderr } = spawnSync(
    'unshare',
    ['--mount', '--propagation', 'private', ...inside],
    {
      env: { ...process.env, PORT: '1', DOCK_DATA_DIR: dataDir, ...environment },
      encoding: 'utf8',
    },
  )
  return { code: status, said: stdout + stderr }
}
const disk = (size: string): string => `mount -t tmpfs -o size=${size} none '${dataDir}'`

const withPortTaken = async (work: (port: string) => void): Promise<void> => {
  const holder = createServer()
  await new Promise<void>((done) => holder.listen(0, '127.0.0.1', done))
  const address = holder.address()
  work(String(address && typeof address === 'object' ? address.port : 0))
  await new Promise((done) => holder.close(done))
}

it('reports a disk with too little space for a first start', () => {
  const { code, said } = start(disk('100m'))
  expect(said).toMatch(/only \d+ MiB are free at .* needs 10240: free some, or set DOCK_DATA_DIR/)
  expect(code).toBe(1)
})

it('reports a disk that is full to the last byte', () => {
  const { code, said } = start(`${disk('1m')}; head -c 2M /dev/zero > '${dataDir}/full' 2>/dev/null || true`)
  expect(said).toMatch(/^bootstrap: only 0 MiB are free at [^\n]*\n$/)
  expect(code).toBe(1)
})

it('reports a port in use before it builds an image, and needs little space once the pool exists', () =>
  withPortTaken((port) => {
    const prepare = `${disk('300m')}; mkdir '${dataDir}/host'; touch '${dataDir}/host/pool.img'`
    const { code, said } = start(prepare, { PORT: port })
    expect(said).toMatch(/Port \d+ is taken on 127\.0\.0\.1\. .* choose another port: PORT=/)
    expect(code).toBe(1)
  }))

it('reports an SSH port in use that the operator has chosen', () =>
  withPortTaken((port) => {
    const prepare = `${disk('300m')}; mkdir '${dataDir}/host'; touch '${dataDir}/host/pool.img'`
    const { code, said } = start(prepare, { DOCK_SSH_PORT: port })
    expect(said).toMatch(/Port \d+ is taken on 127\.0\.0\.1\. .* choose another port: DOCK_SSH_PORT=/)
    expect(code).toBe(1)
  }))

it('reports a wrong setting without a stack trace', () => {
  const { code, said } = start(disk('12g'), { PORT: 'http' })
  expect(said).toBe("Dock cannot start. PORT must be a number from 1 to 65535, not 'http'.\n")
  expect(code).toBe(1)
})

it('reports a kernel without btrfs', () => {
  const filesystems = join(folder, 'filesystems')
  writeFileSync(filesystems, 'nodev\ttmpfs\n\text4\n')
  const { code, said } = start(`mount --bind '${filesystems}' /proc/filesystems`)
  expect(said).toMatch(/this kernel has no btrfs.*; use a kernel with btrfs, or DOCK_EMBEDDED_HOST=off/)
  expect(code).toBe(1)
})

it('reports a user who is not root on a machine without sudo', () => {
  const programs = join(folder, 'bin')
  mkdirSync(programs)
  for (const name of ['bash', 'dirname']) symlinkSync(join('/usr/bin', name), join(programs, name))
  // Map root to another user inside the namespace. It is root outside, so that it can read the checkout anywhere.
  const { status, stderr } = spawnSync(
    '/usr/bin/unshare',
    ['--user', '--map-user=1000', '/usr/bin/bash', script],
    {
      env: { PATH: programs, DOCK_DATA_DIR: dataDir },
      encoding: 'utf8',
    },
  )
  expect(stderr).toMatch(/needs root .*: run this as root, or install sudo/)
  expect(status).toBe(1)
})
