/** Looks from outside at what a QEMU process of a microVM may do. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'

export type WantedJail = {
  /** Root of the file tree. */
  tree: string
  /** The files and devices that it has open. */
  files: readonly string[]
  fileBytesMax: number
  /** Folders of its control group. */
  groupFolders: readonly string[]
}

/** Fails unless QEMU has no rights, no network, no files but its tree, and only the descriptors that it was given. */
export function expectJailed(pid: number, { tree, files, fileBytesMax, groupFolders }: WantedJail): void {
  const process = `/proc/${pid}`
  const status = readFileSync(`${process}/status`, 'utf8')
  const field = (name: string) => new RegExp(`^${name}:[ \\t]*(.*)$`, 'm').exec(status)?.[1]?.trim()
  const [uid] = field('Uid')!.split(/\s+/)
  expect(Number(uid)).toBeGreaterThanOrEqual(0x7000_0000)
  expect(field('Uid')).toBe([uid, uid, uid, uid].join('\t'))
  expect(field('Gid')).toBe([uid, uid, uid, uid].join('\t'))
  expect(field('Groups')).toBe('')
  for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) expect(field(set)).toMatch(/^0+$/)
  expect([field('NoNewPrivs'), field('Seccomp'), field('NSpid')?.split('\t')[1]]).toEqual(['1', '2', '1'])
  for (const name of ['mnt', 'pid', 'ipc', 'uts', 'net', 'cgroup'])
    expect(readlinkSync(`${process}/ns/${name}`)).not.toBe(readlinkSync(`/proc/self/ns/${name}`))

  expect(readdirSync(`${process}/root`).sort()).toEqual(readdirSync(tree).sort())
  expect(readdirSync(`${process}/root/old`).concat(readdirSync(`${process}/root/proc`))).toEqual([])
  const mounts = readFileSync(`${process}/mountinfo`, 'utf8').trim().split('\n')
  expect(mounts).toHaveLength(1)
  expect(mounts[0]!.split(' ')[5]).toMatch(/^ro,nosuid,nodev/)
  const interfaces = readFileSync(`${process}/net/dev`, 'utf8').trim().split('\n').slice(2)
  expect(interfaces.map((line) => line.trim().split(':')[0])).toEqual(['lo'])

  const targets = readdirSync(`${process}/fd`).map((name) => readlinkSync(`${process}/fd/${name}`))
  const kinds = new Set(targets.map((target) => target.replace(/^(socket|pipe):.*|^anon_inode:.*/, '$1')))
  expect([...kinds].filter((target) => !['', 'pipe', 'socket'].includes(target)).sort()).toEqual(
    [...files].sort(),
  )
  const limits = readFileSync(`${process}/limits`, 'utf8')
  expect(limits).toMatch(/Max core file size\s+0\s+0 /)
  expect(limits).toMatch(new RegExp(`Max file size\\s+${fileBytesMax}\\s+`))
  for (const folder of groupFolders)
    expect(readFileSync(join(folder, 'cgroup.procs'), 'utf8').split('\n')).toContain(String(pid))
}
