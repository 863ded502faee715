import { newUuid } from '@dock/foundation'
import { expect, test } from 'vitest'
import { ociConfig } from './oci-config.ts'

test.each([
  { memoryMiB: 512, processes: 512 },
  { memoryMiB: 8192, processes: 2048 },
])('a user in $memoryMiB MiB may have $processes processes', ({ memoryMiB, processes }) => {
  const spec = {
    ...{ dockId: newUuid(), generation: 1, hostname: 'test', cpus: 1, memoryMiB },
    ...{ rootPath: '/nowhere', netnsPath: '/run/netns/nowhere', nameserver: '192.0.2.1' },
  }
  expect(ociConfig(spec, 'id', ['/init'])).toMatchObject({
    process: {
      rlimits: expect.arrayContaining([{ type: 'RLIMIT_NPROC', hard: processes, soft: processes }]),
    },
  })
})
