import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { prepareMachineTree, removeOtherTrees } from './machine-tree.ts'
import { readRelease } from './release.ts'

let folder: string
let agent: string
const trees = () => join(folder, 'trees')
const installed = () => join(folder, 'installed')
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dock-tree-'))
  agent = join(folder, 'agent')
  writeFileSync(agent, 'the agent')
  mkdirSync(join(installed(), 'r1/root/usr/bin'), { recursive: true })
  mkdirSync(join(installed(), 'r1/boot-modules'))
  writeFileSync(join(installed(), 'r1/root/usr/bin/qemu-system-x86_64'), 'qemu')
  writeFileSync(join(installed(), 'r1/boot-modules/virtio_blk.ko'), 'the module')
  const record = { id: 'r1', qemuVersion: '10', kernelVersion: '6.12-1', kernelName: '6.12', sha256: {} }
  writeFileSync(join(installed(), 'r1/release.json'), JSON.stringify(record))
  symlinkSync('r1', join(installed(), 'current'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const prepare = async () => prepareMachineTree(await readRelease(installed()), agent, trees())

test('a tree has the files of the release, and an initrd with the agent and the modules', async () => {
  const tree = await prepare()
  expect(readFileSync(join(tree.root, 'usr/bin/qemu-system-x86_64'), 'utf8')).toBe('qemu')
  const initrd = readFileSync(join(tree.root, 'initrd'), 'latin1')
  expect(initrd).toMatch(/init\0+the agent[\s\S]*virtio_blk\.ko\0+the module/)
  expect(tree).toMatchObject({ kernelName: '6.12', moduleDisk: join(installed(), 'r1/modules.ext4') })
})

test('the same release and agent give the same tree, which is not made again', async () => {
  const first = await prepare()
  const { ino } = statSync(join(first.root, 'initrd'))
  const second = await prepare()
  expect([second.name, statSync(join(second.root, 'initrd')).ino]).toEqual([first.name, ino])
})

test('another agent gives another tree, and trees that nobody needs are removed', async () => {
  const first = await prepare()
  writeFileSync(agent, 'another agent')
  const second = await prepare()
  expect(second.name).not.toBe(first.name)
  await removeOtherTrees(trees(), new Set([second.name]))
  expect(readdirSync(trees())).toEqual([second.name])
})

test('without an installed release the error says what to run', async () => {
  await expect(readRelease(join(folder, 'nothing'))).rejects.toThrow(/run script\/install\/microvm/)
})
