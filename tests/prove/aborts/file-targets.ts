/** Files of running Docks: reads, uploads, tars, folders and watches. */
import { execFileSync } from 'node:child_process'
import type { Random } from './random.ts'
import type { Framing, RawRequest } from './raw-request.ts'
import { httpTarget, type Target, withKey } from './target.ts'
import type { World } from './world.ts'

const folder = '/home/user/work'
const framings: readonly Framing[] = ['length', 'length', 'chunked', 'chunked', 'damaged', 'short']

const tar = execFileSync('bash', [
  '-c',
  `cd "$(mktemp -d)"; mkdir -p a/b; seq 20000 >a/b/c; ln -s b a/link; for n in $(seq 40); do echo $n >a/$n; done
   tar -c a; rm -rf "$PWD"`,
])

const fileOf = (world: World, random: Random, query: string): Pick<RawRequest, 'path' | 'headers'> => ({
  path: `/v1/docks/${random.pick(world.machines).id}/files${query}`,
  headers: withKey(world),
})

const size = (random: Random): number =>
  random.pick([0, 1, random.below(3_000), random.below(200_000), random.below(2e6)])

const read = (world: World, random: Random): RawRequest => {
  const { path, headers } = fileOf(
    world,
    random,
    `?path=${folder}/${random.pick(['large', 'large', 'small', 'absent'])}`,
  )
  const first = random.below(20e6)
  return {
    ...{ method: 'GET', path },
    headers: {
      ...headers,
      ...(random.chance(0.3) ? { range: `bytes=${first}-${first + random.below(4e6)}` } : {}),
    },
  }
}

const readTar = (world: World, random: Random): RawRequest => {
  const { path, headers } = fileOf(world, random, `?path=${random.pick([folder, '/etc', `${folder}/large`])}`)
  return { method: 'GET', path, headers: { ...headers, accept: 'application/x-tar' } }
}

const write = (world: World, random: Random): RawRequest => ({
  ...{ method: 'PUT', ...fileOf(world, random, `?path=${folder}/written-${random.below(8)}`) },
  body: { bytes: Buffer.alloc(size(random), 'x'), framing: random.pick(framings) },
})

const unpack = (world: World, random: Random): RawRequest => {
  const { path, headers } = fileOf(world, random, `?path=${folder}/unpacked`)
  const bytes = Buffer.from(tar)
  for (let left = random.below(4); left > 0; left -= 1) bytes[random.below(bytes.length)] = random.below(256)
  return {
    ...{ method: 'PUT', path, headers: { ...headers, 'content-type': 'application/x-tar' } },
    body: { bytes, framing: random.pick(framings) },
  }
}

export const fileTargets: readonly Target[] = [
  httpTarget({ name: 'file read', weight: 8, routes: ['readDockFile'], atOnceMax: 6, request: read }),
  httpTarget({ name: 'file read as tar', weight: 4, atOnceMax: 3, request: readTar }),
  httpTarget({ name: 'file write', weight: 7, routes: ['writeDockFile'], atOnceMax: 6, request: write }),
  httpTarget({ name: 'file unpack', weight: 4, atOnceMax: 3, request: unpack }),
  httpTarget({
    ...{ name: 'file list', weight: 3, atOnceMax: 4 },
    request: (world, random) => {
      const { path, headers } = fileOf(world, random, `/list?path=${random.pick([folder, '/usr/bin'])}`)
      return { method: 'GET', path, headers: headers! }
    },
  }),
  httpTarget({
    ...{ name: 'file watch', weight: 3, routes: ['watchDockFiles'], atOnceMax: 3 },
    request: (world, random) => ({
      ...{ method: 'GET', ...fileOf(world, random, `/watch?path=${folder}&recursive=${random.chance(0.5)}`) },
      isEndless: true,
    }),
  }),
]
