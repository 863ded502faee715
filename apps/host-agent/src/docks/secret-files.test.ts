/** Runs the three real ways to deliver secret files on a folder that replaces the disk and its `/home`. */
import { execFile } from 'node:child_process'
import {
  chmod,
  chown,
  lstat,
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
import { promisify } from 'node:util'
import type { SecretFiles } from '@dock/host-protocol'
import type { ExecResult, RuntimeDriver, SandboxHandle } from '@dock/runtime'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { writeEntries } from '../disks/write-entries.ts'
import { dockUser } from '../sandboxes/login-shell.ts'
import { tarArchive } from '../sandboxes/tar-archive.ts'
import { beginUnpacking } from '../sandboxes/unpack-in-dock.ts'
import { secretFileEntries } from './environment-entries.ts'
import { applyFiles } from './secret-files.ts'

let disk: string
let home: string
let work: string
beforeEach(async () => {
  disk = await mkdtemp(join(tmpdir(), 'dock-disk-'))
  await chmod(disk, 0o755)
  home = join(disk, 'home')
  work = join(home, 'user/work')
  await mkdir(work, { recursive: true })
  for (const folder of [join(home, 'user'), work]) await chown(folder, dockUser.uid, dockUser.gid)
})
afterEach(() => rm(disk, { recursive: true }))

const asUser = ['setpriv', `--reuid=${dockUser.uid}`, `--regid=${dockUser.gid}`, '--clear-groups']
const inNamespace = ['-m', '/bin/bash', '-c', 'mount --bind "$0" /home && exec "$@"']
const driver = {
  exec: (_, { argv, env, input, uid }) =>
    new Promise<ExecResult>((resolve) => {
      const options = { env, encoding: 'buffer' } as const
      const child = execFile(
        'unshare',
        [...inNamespace, home, ...(uid === 0 ? [] : asUser), ...argv],
        options,
        (error, _, stderr) => resolve({ exitCode: error ? Number(error.code) : 0, stderr } as ExecResult),
      )
      void Promise.resolve(input).then((given) => child.stdin?.end(given))
    }),
} as Pick<RuntimeDriver, 'exec'> as RuntimeDriver

const sandbox = {} as SandboxHandle
const listed = (files: Record<string, string>): SecretFiles =>
  Object.entries(files).map(([path, contents]) => ({ path, contents }))
const give = (files: Record<string, string>): Promise<void> => applyFiles(driver, sandbox, listed(files))

describe.skipIf(process.getuid?.() !== 0)('secret files', () => {
  it.each<[string, (files: SecretFiles) => Promise<void>]>([
    ['delivered', (files) => applyFiles(driver, sandbox, files)],
    ['laid on a new disk', (files) => writeEntries(disk, secretFileEntries(files))],
    [
      'unpacked in a new Dock',
      (files) => beginUnpacking(driver, sandbox).give(tarArchive(secretFileEntries(files))),
    ],
  ])("%s are the Dock user's alone, byte for byte, under any name, and go with the next", async (_, put) => {
    const files = {
      'a b/c': '\0\n',
      '-x': "it's",
      token: '',
      'a b/./d//e': '\\n\\0\\\\ \x007 %s \n\n',
      '%b': `${'é€🙂'.repeat(20_000)}end`,
      [`${'long'.repeat(20)}/${'é'.repeat(120)}`]: 'x',
    }
    await put(listed(files))
    for (const [path, contents] of Object.entries(files)) {
      expect(await readFile(join(work, path), 'utf8')).toBe(contents)
      const { mode, uid, gid } = await stat(join(work, path))
      expect([path, mode & 0o777, uid, gid]).toEqual([path, 0o600, dockUser.uid, dockUser.gid])
    }
    const { mode, uid } = await stat(join(work, 'a b/d'))
    expect([mode & 0o777, uid]).toEqual([0o700, dockUser.uid])
    await rm(join(work, 'a b'), { recursive: true })
    await give({})
    expect(await readdir(work)).toEqual(['long'.repeat(20)])
    expect(await readdir(join(work, 'long'.repeat(20)))).toEqual([])
  })

  it('are removed by the next delivery; other files stay', async () => {
    await give({ token: 'old', gone: 'x' })
    await writeFile(join(work, 'mine'), 'kept')
    await give({ token: 'new' })
    expect((await readdir(work)).toSorted()).toEqual(['mine', 'token'])
    expect(await readFile(join(work, 'token'), 'utf8')).toBe('new')
    await give({})
    expect(await readdir(work)).toEqual(['mine'])
  })

  it('replace links and files at their path, and are not written through a link', async () => {
    await promisify(execFile)('mkfifo', [join(work, 'pipe')])
    await writeFile(join(work, 'target'), 'kept')
    await symlink('target', join(work, 'link'))
    await give({ pipe: 'x', link: 'y' })
    expect(await readFile(join(work, 'target'), 'utf8')).toBe('kept')
    expect((await lstat(join(work, 'link'))).isFile()).toBe(true)
    expect(await readFile(join(work, 'pipe'), 'utf8')).toBe('x')
  })

  it('never replace a folder of the user, and are written even if the work folder is missing', async () => {
    await give({ token: 'x' })
    await rm(join(work, 'token'))
    await mkdir(join(work, 'token'))
    await writeFile(join(work, 'token/mine'), 'kept')
    await give({ other: 'y' })
    expect(await readFile(join(work, 'token/mine'), 'utf8')).toBe('kept')
    await rm(work, { recursive: true })
    await give({ again: 'z' })
    expect(await readdir(work)).toEqual(['again'])
  })
})
