/** Needs root, DOCK_TEST_RUNSC (a runsc) and DOCK_TEST_ROOTFS (a root filesystem, copied before use). */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger, newUuid, runCommand } from '@dock/foundation'
import type { RuntimeDriver } from '@dock/runtime'
import { describeDriver } from '@dock/runtime/conformance'
import { afterAll, describe, expect, test } from 'vitest'
import { createGvisorDriver } from './create-gvisor-driver.ts'

const runsc = process.env.DOCK_TEST_RUNSC
const rootfs = process.env.DOCK_TEST_ROOTFS

// Hides net/core from runsc in a mount namespace of its own, as the agent's launcher does for all its calls.
const launcher = (path: string): string => `#!/bin/bash
exec unshare -m --propagation slave bash -c 'view=$(mktemp -d); mount -t tmpfs none "$view"
mkdir -p "$view"/{vm,kernel,fs,net/core}; for part in vm kernel fs; do mount --bind /proc/sys/$part "$view"/$part; done
mount --rbind "$view" /proc/sys; umount -l "$view"; rmdir "$view"; exec ${path} "$@"' runsc "$@"
`

if (runsc && rootfs) {
  const scratch = mkdtempSync(join(tmpdir(), 'dock-gvisor-'))
  const runscPath = join(scratch, 'runsc')
  writeFileSync(runscPath, launcher(runsc))
  chmodSync(runscPath, 0o700)

  afterAll(() => rmSync(scratch, { recursive: true, force: true }))

  const describeOn = (controlSocket: boolean, exec: string): void => {
    const folder = join(scratch, exec)
    const netns = `dockt${process.pid}${controlSocket ? 's' : 'c'}`
    const drivers: RuntimeDriver[] = []
    const makeDriver = (): RuntimeDriver => {
      const rootDir = join(folder, 'root')
      const stateDir = join(folder, 'state')
      const logger = createLogger('test')
      const driver = createGvisorDriver({ runscPath, rootDir, stateDir, logger, controlSocket })
      drivers.push(driver)
      return driver
    }

    afterAll(() => runCommand('ip', ['netns', 'delete', netns]))

    describeDriver(`gvisor by ${exec}`, makeDriver, async () => {
      const rootPath = join(folder, 'rootfs')
      await runCommand('mkdir', ['-p', folder])
      await runCommand('cp', ['-a', rootfs, rootPath])
      await runCommand('ip', ['netns', 'add', netns])
      return {
        dockId: newUuid(),
        generation: 2,
        hostname: 'driver-test',
        cpus: 1,
        memoryMiB: 512,
        rootPath,
        netnsPath: `/run/netns/${netns}`,
        nameserver: '192.0.2.1',
      }
    })

    test(`commands went by ${exec}`, async () => {
      expect((await drivers[0]?.fingerprint())?.detail.exec).toBe(exec)
    })
  }

  describeOn(true, 'control-socket')
  describeOn(false, 'runsc-exec')
} else {
  console.warn('SKIPPED: gVisor driver; set DOCK_TEST_RUNSC and DOCK_TEST_ROOTFS')
  describe('gvisor', () => {
    test.skip('needs DOCK_TEST_RUNSC and DOCK_TEST_ROOTFS', () => undefined)
  })
}
