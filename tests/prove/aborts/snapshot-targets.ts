/** Snapshots: files, listings, folders and comparisons. */
import type { Random } from './random.ts'
import type { RawRequest } from './raw-request.ts'
import { httpTarget, type Target, withKey } from './target.ts'
import { largeBytes, type World } from './world.ts'

/** A person may read four at the same time, an organization three of a host. */
const atOnceMax = 3

const range = (random: Random): string => {
  const first = random.below(largeBytes)
  return random.pick([
    `bytes=${first}-`,
    `bytes=${first}-${first + random.below(2e6)}`,
    `bytes=-${1 + random.below(9e6)}`,
  ])
}

const file =
  (path: string) =>
  (world: World, random: Random): RawRequest => ({
    method: 'GET',
    path: `/v1/snapshots/${world.snapshots.id}/files?path=${path}`,
    headers: { ...withKey(world), ...(random.chance(0.4) ? { range: range(random) } : {}) },
  })

const list =
  (what: string) =>
  (world: World): RawRequest => ({
    method: 'GET',
    path: `/v1/snapshots/${world.snapshots.id}/${what}`,
    headers: withKey(world),
  })

const inDashboard =
  (what: (world: World) => string) =>
  (world: World): RawRequest => ({
    method: 'GET',
    path: `/api/dashboard/snapshots/${what(world)}`,
    headers: { cookie: world.cookie },
  })

export const snapshotTargets: readonly Target[] = [
  httpTarget({
    ...{ name: 'snapshot large file', weight: 12, routes: ['readSnapshotFile'], atOnceMax },
    request: file('/home/user/work/large'),
  }),
  httpTarget({ name: 'snapshot small file', weight: 4, atOnceMax, request: file('/home/user/work/small') }),
  httpTarget({
    ...{ name: 'snapshot tree', weight: 2, routes: ['readSnapshotTree'], atOnceMax: 1 },
    request: list('tree'),
  }),
  httpTarget({
    ...{ name: 'snapshot download', weight: 2, routes: ['readSnapshotDownload'], atOnceMax: 1 },
    request: list('download'),
  }),
  httpTarget({
    ...{ name: 'snapshot folder', weight: 2, atOnceMax: 2 },
    request: inDashboard(({ snapshots }) => `${snapshots.id}/folder?path=/usr/bin`),
  }),
  httpTarget({
    ...{ name: 'snapshot comparison', weight: 1, atOnceMax: 1 },
    request: inDashboard(({ snapshots }) => `${snapshots.id}/diff/${snapshots.later}`),
  }),
]
