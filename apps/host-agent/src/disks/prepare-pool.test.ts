/** Some tests need root and a kernel with btrfs. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { limits } from '@dock/contract'
import { tryCommand } from '@dock/foundation'
import { describe, expect, it, onTestFinished } from 'vitest'
import { findMountNamespaces, type MountNamespace } from './mount-namespaces.ts'
import { readMountTable } from './mount-table.ts'
import { defaultPoolSize, preparePool } from './prepare-pool.ts'

const gibibyte = 2 ** 30
const sizeFor = (freeGiB: number): number | null => {
  const bytes = defaultPoolSize(freeGiB * gibibyte)
  return bytes === null ? null : bytes / gibibyte
}

it('gives a new pool most of the free space', () => {
  expect(sizeFor(100)).toBe(80)
  expect(sizeFor(99.9)).toBe(79)
  expect(sizeFor(4000)).toBe(1024)
})

it('has room for the default disk of a Dock twice, also on a small disk', () => {
  const twice = 2 * limits.diskGiB.default
  expect([10, 24, 49].map(sizeFor)).toEqual([twice, twice, twice])
})

it('refuses a disk that is nearly full', () => {
  expect(sizeFor(9.9)).toBeNull()
})

it('refuses what script/bootstrap refuses before a first start', () => {
  const bootstrap = readFileSync(new URL('../../../../script/bootstrap', import.meta.url), 'utf8')
  const neededGiB = Number(/pool\.img \]\]; then needed=(\d+)/.exec(bootstrap)?.[1]) / 1024
  expect([neededGiB, neededGiB - 0.01].map(sizeFor)).toEqual([expect.any(Number), null])
})

describe('another mount namespace', () => {
  const freshHost = async (): Promise<string> => {
    const host = await mkdtemp(join(tmpdir(), 'dock-prepare-'))
    onTestFinished(async () => {
      await tryCommand('umount', [join(host, 'pool')])
      await rm(host, { recursive: true })
    })
    return host
  }
  /** Starts a process that is alone in a mount namespace in which `command` ran. */
  const startAlone = async (command: string): Promise<{ other: ChildProcess; namespace: MountNamespace }> => {
    const script = `${command} && exec sleep 600`
    const other = spawn('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', script])
    onTestFinished(() => void other.kill())
    await expect.poll(() => readFile(`/proc/${other.pid}/comm`, 'utf8')).toBe('sleep\n')
    const namespaces = await findMountNamespaces()
    const namespace = namespaces.find(({ path }) => path === `/proc/${other.pid}/ns/mnt`)
    if (!namespace) throw new Error('the namespace was not found')
    return { other, namespace }
  }

  it('may end at any moment', async () => {
    const host = await freshHost()
    const { other, namespace } = await startAlone('true')
    const read = async () => {
      const table = await namespace.read()
      other.kill()
      await once(other, 'exit')
      return table
    }
    const poolDir = await preparePool(host, { namespaces: [{ ...namespace, read }] })
    expect((await readMountTable()).has(poolDir)).toBe(true)
  })

  it('is an error if it exists and refuses the pool', async () => {
    const host = await freshHost()
    const { namespace } = await startAlone(`mount -t tmpfs none ${host}`)
    await expect(preparePool(host, { namespaces: [namespace] })).rejects.toThrow(/--namespace .* exit 32/)
  })

  it('gets the pool', async () => {
    const host = await freshHost()
    const { other, namespace } = await startAlone('true')
    const poolDir = await preparePool(host, { namespaces: [namespace] })
    expect((await readMountTable(String(other.pid))).has(poolDir)).toBe(true)
  })
})
