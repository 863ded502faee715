/** The machines are simulated. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Machine, Vmm } from '../machine.ts'
import { type ProbeOptions, probeAccelerator } from './probe-accelerator.ts'

const never = new Promise<never>(() => undefined)

let folder: string
let running: Set<string>
let ended: Promise<string>
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dock-probe-'))
  running = new Set()
  ended = never
})
afterEach(() => rmSync(folder, { recursive: true }))

const probe = async (more: Partial<ProbeOptions>) => {
  const kvm: Vmm = {
    launch: async ({ id }) => {
      running.add(id)
      return { id, ended } as unknown as Machine
    },
    restore: () => never,
    find: async () => null,
    remove: async (id) => void running.delete(id),
    list: async () => [],
  }
  const given = {
    folder,
    kvm,
    instance: 'test',
    allowsEmulation: true,
    awaitAgent: () => never,
    deadlineMs: 50,
  }
  try {
    return await probeAccelerator({ ...given, ...more })
  } finally {
    expect([[...running], readdirSync(folder)]).toEqual([[], []])
  }
}

test('KVM is used if the agent of a guest answers', async () => {
  expect(await probe({ awaitAgent: async () => undefined })).toEqual({ accelerator: 'kvm', reason: '' })
})

test('a guest that does not boot in time is emulated', async () => {
  expect(await probe({})).toEqual({ accelerator: 'tcg', reason: 'a guest does not boot within 0.05 s' })
})

test('a QEMU that ends says why', async () => {
  ended = Promise.resolve('unhandled MSR')
  expect(await probe({ deadlineMs: 60_000 })).toEqual({
    accelerator: 'tcg',
    reason: 'QEMU ended: unhandled MSR',
  })
})

test('emulation is refused unless it is allowed', async () => {
  const text = 'no usable /dev/kvm. Use a machine with hardware virtualization, or DOCK_RUNTIME=gvisor'
  await expect(probe({ kvm: null, allowsEmulation: false })).rejects.toThrow(text)
  expect((await probe({ kvm: null })).accelerator).toBe('tcg')
})
