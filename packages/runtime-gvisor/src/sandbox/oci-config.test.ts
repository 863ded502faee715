import { newUuid } from '@dock/foundation'
import { expect, test } from 'vitest'
import { ociConfig } from './oci-config.ts'

test.each([
  { memoryMiB: 512, processes: 512, onHost: 4096 },
  { memoryMiB: 4096, processes: 4096, onHost: 8192 },
  { memoryMiB: 65_536, processes: 8192, onHost: 16_384 },
])('with $memoryMiB MiB, a user may have $processes processes', ({ memoryMiB, processes, onHost }) => {
  const spec = {
    ...{ dockId: newUuid(), generation: 1, hostname: 'test', cpus: 1, memoryMiB },
    ...{ disk: { mount: '/nowhere' }, netnsPath: '/run/netns/nowhere', nameserver: '192.0.2.1' },
  }
  expect(ociConfig(spec, 'id', ['/init'])).toMatchObject({
    process: {
      rlimits: expect.arrayContaining([{ type: 'RLIMIT_NPROC', hard: processes, soft: processes }]),
    },
    linux: { resources: { pids: { limit: onHost } } },
  })
})
