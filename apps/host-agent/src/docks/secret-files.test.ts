/** The delivery's script itself, run as the Dock user over a folder of its own that stands in for `/home`. */
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
import type { ExecResult, RuntimeDriver, SandboxHandle } from '@dock/runtime'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { dockUser } from './login-shell.ts'
import { deliverFiles } from './secret-files.ts'

let home: string
let work: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'dock-home-'))
  await chmod(home, 0o755)
  work = join(home, 'user/work')
  await mkdir(work, { recursive: true })
  for (const folder of [join(home, 'user'), work]) await chown(folder, dockUser.uid, dockUser.gid)
})
afterEach(() => rm(home, { recursive: true }))

const asUser = ['setpriv', `--reuid=${dockUser.uid}`, `--regid=${dockUser.gid}`, '--clear-groups']
const inNamespace = ['-m', '/bin/bash', '-c', 'mount --bind "$0" /home && exec "$@"']
const driver = {
  exec: (_, { argv, env, input }) =>
    new Promise<ExecResult>((resolve) => {
      const options = { env, encoding: 'buffer' } as const
      const child = execFile(
        'unshare',
        [...inNamespace, home, ...asUser, ...argv],
        options,
        (error, _, stderr) => resolve({ exitCode: error ? Number(error.code) : 0, stderr } as ExecResult),
      )
      child.stdin?.end(input)
    }),
} as Pick<RuntimeDriver, 'exec'> as RuntimeDriver

const give = (files: Record<string, string>): Promise<void> =>
  deliverFiles(
    driver,
    {} as SandboxHandle,
    Object.entries(files).map(([path, contents]) => ({ path, contents })),
  )

describe.skipIf(process.getuid?.() !== 0)('secret files', () => {
  it("are the Dock user's alone, byte for byte, under any name", async () => {
    const files = {
      'a b/c': '\0\n',
      '-x': "it's",
      token: '',
      'a b/d/e': '\\n\\0\\\\ \x007 %s \n\n',
      '%b': `${'é€🙂'.repeat(20_000)}end`,
    }
    await give(files)
    for (const [path, contents] of Object.entries(files)) {
      expect(await readFile(join(work, path), 'utf8')).toBe(contents)
      const { mode, uid } = await stat(join(work, path))
      expect([path, mode & 0o777, uid]).toEqual([path, 0o600, dockUser.uid])
    }
  })

  it('go with the next delivery, in place of what there is; what else is there stays', async () => {
    await give({ token: 'old', gone: 'x' })
    await writeFile(join(work, 'mine'), 'kept')
    await give({ token: 'new' })
    expect((await readdir(work)).toSorted()).toEqual(['mine', 'token'])
    expect(await readFile(join(work, 'token'), 'utf8')).toBe('new')
    await give({})
    expect(await readdir(work)).toEqual(['mine'])
  })

  it('take the place of whatever stands at their path, and are not written through it', async () => {
    await promisify(execFile)('mkfifo', [join(work, 'pipe')])
    await writeFile(join(work, 'target'), 'kept')
    await symlink('target', join(work, 'link'))
    await give({ pipe: 'x', link: 'y' })
    expect(await readFile(join(work, 'target'), 'utf8')).toBe('kept')
    expect((await lstat(join(work, 'link'))).isFile()).toBe(true)
    expect(await readFile(join(work, 'pipe'), 'utf8')).toBe('x')
  })

  it('never take a folder of the user, and come though the work folder is gone', async () => {
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
