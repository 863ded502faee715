import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { listMachineFolders, MachineFolder, type MachineRecord } from './machine-folder.ts'

let parent: string
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'dock-machines-'))
})
afterEach(() => rmSync(parent, { recursive: true }))

const record = (id: string, uid: number): MachineRecord => ({
  version: 1,
  ...{ id, uid, cpus: 1, memoryMiB: 512, disk: '/disk', netnsPath: null, network: null, tree: 'tree' },
})

test('a description is read back, and the folder is only for root', async () => {
  const folder = new MachineFolder(parent, 'one')
  await folder.create()
  await folder.write(record('one', 7))
  expect(await new MachineFolder(parent, 'one').read()).toEqual(record('one', 7))
  expect(statSync(folder.path).mode & 0o777).toBe(0o700)
  expect(await listMachineFolders(parent)).toEqual(['one'])
})

test('a description that cannot be read is none', async () => {
  const folder = new MachineFolder(parent, 'one')
  await folder.create()
  expect(await folder.read()).toBeNull()
  writeFileSync(join(folder.path, 'machine.json'), '{"version": 99}')
  expect(await folder.read()).toBeNull()
})

test('no two machines have the same user, even if their names give the same one', async () => {
  const one = new MachineFolder(parent, 'one')
  await one.create()
  const uid = await one.chooseUid('one')
  await one.write(record('one', uid))
  const other = new MachineFolder(parent, 'other')
  expect(await other.chooseUid('one')).toBe(uid + 1)
  expect(await other.chooseUid('one')).toBeGreaterThan(0x7000_0000)
})

test.each(['', '..', 'a/b', 'A', 'x'.repeat(65)])('the id %j is refused', (id) => {
  expect(() => new MachineFolder(parent, id)).toThrow('not an id of a machine')
})

test('what is left of a machine keeps its name from being taken', async () => {
  await new MachineFolder(parent, 'one').create()
  await expect(new MachineFolder(parent, 'one').create()).rejects.toThrow('EEXIST')
})
