import { createFakeDriver } from '@dock/testkit/src/runtime/fake-driver.ts'
import { createFakeMachine } from '@dock/testkit/src/runtime/fake-machine.ts'
import { describeDriver } from './conformance/index.ts'
import type { SandboxSpec } from './driver.ts'

const machine = createFakeMachine()
const spec: SandboxSpec = {
  dockId: '7f0c1d9e-0000-4000-8000-000000000001',
  generation: 3,
  hostname: 'fake',
  cpus: 1,
  memoryMiB: 512,
  rootPath: '/nowhere',
  netnsPath: '/nowhere',
  nameserver: '192.0.2.1',
}

describeDriver(
  'fake',
  () => createFakeDriver(machine),
  async () => spec,
  { shell: false },
)
