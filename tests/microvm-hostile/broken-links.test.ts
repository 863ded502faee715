/** What holds when connections to the guest of an emulated machine break. Run by `script/prove microvm broken-links`. */
import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '@dock/foundation'
import { describeBrokenLinks } from '@dock/runtime-microvm/src/driver/testing/describe-broken-links.ts'
import { GuestLink } from '@dock/runtime-microvm/src/link/index.ts'
import { diskSerials } from '@dock/runtime-microvm/src/machine/qemu/qemu-arguments.ts'
import {
  hasTestMachines,
  openTestMachines,
  type TestMachines,
} from '@dock/testkit/src/runtime/test-machines.ts'
import { afterAll, beforeAll, describe } from 'vitest'

const diskMiB = 1024
const helloMs = 120_000

describe.runIf(hasTestMachines)('the connections to the guest of a machine', () => {
  let machines: TestMachines
  let image: string
  let count = 0
  beforeAll(async () => {
    machines = await openTestMachines()
    image = join(machines.folder, 'image')
    await machines.makeImageDisk(image, diskMiB)
  })
  afterAll(() => machines?.close())

  describeBrokenLinks({
    bytes: 24 * 2 ** 20,
    start: async () => {
      count += 1
      const disk = join(machines.folder, `disk-${count}`)
      await runCommand('cp', ['--reflink=auto', '--sparse=always', image, disk])
      const spec = { id: `links-${process.pid}-${count}`, cpus: 1, memoryMiB: 512, disk, netnsPath: null }
      const machine = await machines.vmm.launch(spec)
      const link = await GuestLink.connect(machine.dial(0), { helloMs })
      await link.go({
        ...{ clock: BigInt(Date.now()) * 1_000_000n, entropy: randomBytes(64), hostname: 'guest' },
        disk: { serial: diskSerials.root, bytes: statSync(disk).size, grows: true },
        modules: { serial: diskSerials.modules, type: 'ext4' },
      })
      link.end()
      return machine
    },
    end: ({ id }) => machines.vmm.remove(id),
  })
})
