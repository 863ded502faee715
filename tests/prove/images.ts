/**
 * script/prove images [versions] [tarball] [dev]: on a fresh data folder, builds an own image from packages and a script,
 * one from a tarball, and the development image while Dock runs. A new version of the own image is built: Docks of the
 * older one boot, resume and branch as they were, new Docks and warm ones have the new version. The image from the tarball
 * is removed, also from a second host.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { listWarmSandboxes, print, usualSize } from '../../bench/parts/bench-server.ts'
import { deleteDock, run } from '../e2e/support/dock.ts'
import { agentOf, createMachine, joinToken } from '../e2e/support/second-machine.ts'
import { newDataDir, removeDataDir, type Server, startServer } from '../e2e/support/server.ts'
import { buildImage } from './images/build-image.ts'

const exec = promisify(execFile)
const checkout = new URL('../..', import.meta.url).pathname

let problems = 0
const check = (what: string, holds: boolean, detail = ''): void => {
  if (!holds) problems += 1
  print(`${holds ? 'holds ' : 'BROKEN'}  ${what}${detail && `: ${detail}`}`)
}

const imageOf = async ({ client }: Server, name: string) =>
  (await client.call('listImages', {})).find((each) => each.name === name)

const createFrom = ({ client, admin }: Server, image: string, name: string) =>
  client.call('createDock', { body: { workspaceId: admin.workspaceId, image, name, ...usualSize } })

const writeRecipe = async (
  { dataDir }: Pick<Server, 'dataDir'>,
  name: string,
  files: Record<string, string>,
): Promise<string> => {
  const folder = join(dataDir, 'images', name)
  await mkdir(folder, { recursive: true })
  for (const [file, content] of Object.entries(files)) await writeFile(join(folder, file), content)
  return folder
}

const tools = [
  ...['git --version', 'cc --version', 'python3 -m venv v && v/bin/pip --version', 'pip --version'],
  ...['node --version', 'npm --version', 'rg --version', 'jq --version', 'tmux -V', 'vim --version'],
  ...['less --version', 'curl --version', 'ssh -V', 'rsync --version', 'sqlite3 --version', 'unzip -v'],
  'gh --version',
]

const useDevImage = async (server: Server): Promise<void> => {
  const before = await imageOf(server, 'debian-13-dev')
  check('no start and no other build made it', before?.available === false && before.version === null)
  await buildImage(server, 'debian-13-dev')
  check('GET /v1/images shows the new image', (await imageOf(server, 'debian-13-dev'))?.available === true)
  const { id } = await createFrom(server, 'debian-13-dev', 'dev')
  for (const tool of tools) {
    const said = await run(server, id, `said=$( { ${tool}; } 2>&1 ) && head -n 1 <<<"$said"`).catch(String)
    check(`the development image has ${tool.split(' ')[0]}`, !/Error|not found/.test(said), said.trim())
  }
  await deleteDock(server, id)
}

const useTarball = async (server: Server): Promise<void> => {
  const folder = await writeRecipe(server, 'exported', {})
  const tarball = join(folder, 'rootfs.tar')
  // What `docker export` of a small Debian container contains: no user, no s6, no sftp server.
  const suite = 'trixie'
  await exec(
    'mmdebstrap',
    ['--mode=root', '--variant=minbase', '--include=procps', '--quiet', suite, tarball],
    {
      maxBuffer: 2 ** 26,
    },
  )
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(tarball)) hash.update(chunk)
  await writeFile(join(folder, 'rootfs.sha256'), `${'0'.repeat(64)}  rootfs.tar\n`)
  const refused = await buildImage(server, 'exported').catch(
    (error: { stderr?: string }) => error.stderr ?? '',
  )
  check('a tarball with another digest is refused', refused.includes(`demands ${'0'.repeat(64)}`))
  await writeFile(join(folder, 'rootfs.sha256'), `${hash.digest('hex')}  rootfs.tar\n`)
  await buildImage(server, 'exported')
  const { id } = await createFrom(server, 'exported', 'exported')
  const said = await run(
    server,
    id,
    'id -un; sudo id -un; pwd; echo kept > file; . /etc/os-release; echo $VERSION_CODENAME',
  )
  check(
    'a Dock from a tarball has its user and sudo',
    said === `user\nroot\n/home/user/work\n${suite}\n`,
    said,
  )
  await server.client.call('stopDock', { params: { id }, body: {} })
  await server.client.call('resumeDock', { params: { id }, body: {} })
  check('it stops and resumes', (await run(server, id, 'cat file')) === 'kept\n')
  await deleteDock(server, id)
}

/** Removes the image that `useTarball` made, which a second host has received by then. */
const useRemoval = async (server: Server, port: number): Promise<void> => {
  const { client, dataDir } = server
  const machine = await createMachine(41)
  const hostDir = await newDataDir()
  const host = await machine.joinAsHost(
    hostDir,
    `http://${machine.address}:${port}`,
    await joinToken(dataDir),
  )
  try {
    /** Null while the agent starts. */
    const received = (): Promise<string[] | null> =>
      agentOf(hostDir)
        .then((pid) => readdir(join('/proc', String(pid), 'root', hostDir, 'host/pool/images')))
        .catch(() => null)
    const until = async (holds: () => Promise<boolean>): Promise<boolean> => {
      for (const deadline = Date.now() + 600_000; Date.now() < deadline; await delay(500))
        if (await holds()) return true
      return false
    }
    check(
      'a second host receives the own image',
      await until(async () => (await received())?.includes('exported') === true),
    )
    const kept = await createFrom(server, 'exported', 'kept')
    await run(server, kept.id, 'echo mine > file')
    const refused = await buildImage(server, server.admin.image, '--remove').catch(
      (error: { stderr?: string }) => error.stderr ?? '',
    )
    check('the default image is not removed', refused.includes('is the default'), refused.trim())
    await buildImage(server, 'exported', '--remove')
    check('GET /v1/images shows the removed image no more', (await imageOf(server, 'exported')) === undefined)
    const code = await createFrom(server, 'exported', 'late').then(
      () => 'created',
      (error: { code?: string }) => error.code,
    )
    check('a create from it is refused', code === 'image_unknown', code)
    check(
      'the second host deletes it',
      await until(async () => (await received())?.every((name) => !name.includes('exported')) === true),
    )
    await client.call('stopDock', { params: { id: kept.id }, body: {} })
    await client.call('resumeDock', { params: { id: kept.id }, body: {} })
    check('a Dock made from it stops and resumes', (await run(server, kept.id, 'cat file')) === 'mine\n')
    await deleteDock(server, kept.id)
  } finally {
    await host.interrupt()
    await machine.remove()
    await removeDataDir(hostDir)
  }
}

/** The default image of this server is an own one, so that the warm pool holds it. */
const useVersions = async (server: Server): Promise<void> => {
  const { client } = server
  const name = server.admin.image
  const versionIn = (id: string) => run(server, id, 'cat /etc/recipe; sqlite3 :memory: "select 40 + 2"')
  const older = await createFrom(server, name, 'older')
  const stopped = await createFrom(server, name, 'stopped')
  check(
    'an own image has its packages and what its script did',
    (await versionIn(older.id)) === 'first 0\n42\n',
  )
  await run(server, older.id, 'echo mine > file')
  await client.call('stopDock', { params: { id: stopped.id }, body: {} })
  while ((await listWarmSandboxes(server)).length < 2) await delay(200)
  const warm = await listWarmSandboxes(server)
  const before = await imageOf(server, name)

  await writeFile(join(server.dataDir, 'images', name, 'script'), 'echo "second $UID" > /etc/recipe\n')
  await buildImage(server, name)
  // At once: the warm sandboxes of the older version may still be there.
  const newer = await createFrom(server, name, 'newer')
  check('a Dock right after the build has the new version', (await versionIn(newer.id)) === 'second 0\n42\n')
  const after = await imageOf(server, name)
  check('GET /v1/images shows the new version', after?.version !== before?.version, `${after?.version}`)
  const deadline = Date.now() + 120_000
  const areOld = async (): Promise<boolean> =>
    (await listWarmSandboxes(server)).some((each) => warm.includes(each))
  while (Date.now() < deadline && (await areOld())) await delay(200)
  check('no warm sandbox of the older version is left', !(await areOld()))
  while (Date.now() < deadline && (await listWarmSandboxes(server)).length < 3) await delay(200)
  const fresh = await listWarmSandboxes(server)
  const claimed = await createFrom(server, name, 'claimed')
  check('the next create gets a warm one', fresh.includes(`d${claimed.id.replaceAll('-', '')}g00000000`))
  check('which has the new version', (await versionIn(claimed.id)) === 'second 0\n42\n')

  check('a running Dock of the older version is as it was', (await versionIn(older.id)) === 'first 0\n42\n')
  const branch = await client.call('branchDock', { params: { id: older.id }, body: { name: 'branch' } })
  check('its branch too', (await run(server, branch.id, 'cat file /etc/recipe')) === 'mine\nfirst 0\n')
  await client.call('stopDock', { params: { id: older.id }, body: {} })
  await client.call('resumeDock', { params: { id: older.id }, body: {} })
  check('it stops and resumes', (await run(server, older.id, 'cat file /etc/recipe')) === 'mine\nfirst 0\n')
  await client.call('resumeDock', { params: { id: stopped.id }, body: {} })
  check('one that was stopped before resumes', (await versionIn(stopped.id)) === 'first 0\n42\n')

  await writeFile(join(server.dataDir, 'images', name, 'script'), 'false\n')
  const failed = await buildImage(server, name).then(
    () => false,
    () => true,
  )
  check('a build whose script fails is refused', failed)
  check('and leaves the image as it was', (await imageOf(server, name))?.version === after?.version)
  const left = (await readdir(join(server.dataDir, 'host/pool/images'))).filter((file) =>
    file.startsWith('.new'),
  )
  check('nothing half-made is left', left.length === 0, left.join(' '))
}

const parts: Record<string, (server: Server, port: number) => Promise<void>> = {
  versions: useVersions,
  tarball: async (server, port) => {
    await useTarball(server)
    await useRemoval(server, port)
  },
  dev: useDevImage,
}
const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(parts)
const unknown = wanted.filter((name) => !parts[name])
if (unknown.length > 0) {
  print(`There is no part ${unknown.join(', ')}. Parts: ${Object.keys(parts).join(' ')}`)
  process.exit(2)
}

/** The default image is an own one, so the very first start builds it. */
const recipe = {
  from: 'debian-13',
  packages: '# for the proof\nsqlite3\n',
  script: 'echo "first $UID" > /etc/recipe\n',
}
const dataDir = await newDataDir()
// A fresh cache, so that everything is built. Only the lean image, whose programs the tarball's image gets, is taken over.
const cache = join(dataDir, 'host/image-cache')
const lean = await exec(join(checkout, 'script/install/image-archive'), [
  'debian-13',
  process.env.DOCK_IMAGE_CACHE ?? cache,
])
await mkdir(cache, { recursive: true })
await copyFile(lean.stdout.trim(), join(cache, basename(lean.stdout.trim())))
process.env.DOCK_IMAGE_CACHE = cache
await writeRecipe({ dataDir }, 'own', recipe)
const port = await freePort()
const settings = { DEFAULT_IMAGE: 'own', DOCK_WARM_POOL: '3', DOCK_BIND: '0.0.0.0' }
const server = await startServer(dataDir, port, { ...settings, DOCK_COPY_MIB_PER_SECOND: '1000' })
try {
  for (const name of wanted) await parts[name]!(server, port)
} finally {
  await server.interrupt()
  await removeDataDir(dataDir)
}
print(problems === 0 ? 'all hold' : `${problems} BROKEN`)
process.exitCode = problems === 0 ? 0 : 1
