import { bareDriver, createFakeDriver } from '@dock/testkit/src/runtime/fake-driver.ts'
import { createFakeMachine } from '@dock/testkit/src/runtime/fake-machine.ts'
import { describeDriver } from './conformance/index.ts'
import type { SandboxSpec } from './driver.ts'

const spec: SandboxSpec = {
  dockId: '7f0c1d9e-0000-4000-8000-000000000001',
  generation: 3,
  hostname: 'fake',
  cpus: 1,
  memoryMiB: 512,
  disk: { mount: '/nowhere' },
  netnsPath: '/nowhere',
  nameserver: '192.0.2.1',
}

let generation = 3
const makeSpec = async (): Promise<SandboxSpec> => {
  generation += 1
  return { ...spec, generation }
}
const { bare, full } = { bare: createFakeMachine(), full: createFakeMachine() }

describeDriver('fake', () => createFakeDriver(full), makeSpec, { shell: false })
describeDriver(
  'fake without capabilities',
  () => bareDriver(createFakeDriver(bare)),
  async () => ({ ...(await makeSpec()), disk: { device: '/nowhere' } }),
  { shell: false },
)
