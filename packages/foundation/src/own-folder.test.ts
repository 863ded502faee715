/** Needs root and the system user `nobody`. */
import { execFile } from 'node:child_process'
import { chmod, chown, lstat, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { makeOwnFolder, readOwnFile, requireOwnFolder, runInFolderOf } from './own-folder.ts'

const run = promisify(execFile)
const user = { uid: 65_534, gid: 65_534 }

let folder: string
let own: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dock-own-'))
  await chmod(folder, 0o755)
  own = join(folder, 'own')
  await makeOwnFolder(own, user)
})
afterEach(() => rm(folder, { recursive: true }))

it('a new folder belongs to the user with mode 0700, whether root or the user owns the parent', async () => {
  await makeOwnFolder(join(own, 'inner'), user)
  for (const path of [own, join(own, 'inner')]) {
    const found = await lstat(path)
    expect([found.uid, found.gid, found.mode & 0o777]).toEqual([user.uid, user.gid, 0o700])
  }
  await makeOwnFolder(own, user)
})

it('a symlink, a file or the folder of another user is refused, and the target is unchanged', async () => {
  const victim = join(folder, 'victim')
  await mkdir(victim, { mode: 0o755 })
  await symlink(victim, join(own, 'link'))
  await writeFile(join(own, 'file'), '')
  await mkdir(join(own, 'roots'))
  for (const [name, said] of [
    ['link', 'is a symlink'],
    ['file', 'is not a folder'],
    ['roots', 'belongs to user 0'],
  ] as const) {
    await expect(requireOwnFolder(join(own, name), user)).rejects.toThrow(said)
    await expect(makeOwnFolder(join(own, name), user)).rejects.toThrow(said)
  }
  expect((await lstat(victim)).uid).toBe(0)
})

it('commands in the user’s folder run as the user', async () => {
  const victim = join(folder, 'victim')
  await mkdir(victim, { mode: 0o755 })
  await writeFile(join(victim, 'kept'), '')
  await symlink(victim, join(own, 'link'))
  await expect(
    runInFolderOf(user, own, ['rm', '--recursive', '--', `${join(own, 'link')}/kept`]),
  ).rejects.toThrow(/Permission denied/)
  expect(await readdir(victim)).toEqual(['kept'])
  // Control: as root, the same command follows the symlink.
  await run('rm', ['--', `${join(own, 'link')}/kept`])
  expect(await readdir(victim)).toEqual([])
  await chmod(own, 0o777)
  await expect(runInFolderOf(user, own, ['true'])).rejects.toThrow('is world-writable')
})

it('only a regular file of the user is read', async () => {
  const secret = join(folder, 'secret')
  await writeFile(secret, 'of root')
  await symlink(secret, join(own, 'link'))
  await writeFile(join(own, 'roots'), 'of root')
  await run('mkfifo', [join(own, 'pipe')])
  await chown(join(own, 'pipe'), user.uid, user.gid)
  await writeFile(join(own, 'file'), 'its own')
  await chown(join(own, 'file'), user.uid, user.gid)
  await writeFile(join(own, 'large'), Buffer.alloc(2 ** 20 + 1))
  await chown(join(own, 'large'), user.uid, user.gid)
  expect(await readOwnFile(join(own, 'file'), user)).toBe('its own')
  expect(await readOwnFile(join(own, 'absent'), user)).toBeUndefined()
  await expect(readOwnFile(join(own, 'link'), user)).rejects.toThrow('is a symlink')
  for (const name of ['roots', 'pipe'])
    await expect(readOwnFile(join(own, name), user)).rejects.toThrow('is not a file of user 65534')
  await expect(readOwnFile(join(own, 'large'), user)).rejects.toThrow('too large')
})
