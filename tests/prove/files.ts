/**
 * script/prove files [count]: a Dock with a million files in one folder. Its lists over HTTP, a tar of it, and its list
 * over sftp are complete. 2 GB go up and come back unchanged. The peak memory of control plane and agent stays flat.
 * Exits with 1 if anything failed.
 */
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { print, withServer } from '../../bench/parts/bench-server.ts'
import { createSshClient } from '../api/ssh/ssh-client.ts'
import { processOf } from '../crash/processes.ts'
import { createDock } from '../e2e/support/dock.ts'
import type { Server } from '../e2e/support/server.ts'

const count = Number(process.argv[2] ?? '1000000')
const grownMiBMax = 48
const transferBytes = 2 * 2 ** 30
/** The garbage of a transfer is collected late. */
const transferGrownMiBMax = 128
const folder = '/home/user/many'
const nameBytes = 24

let failed = 0
const report = (holds: boolean, what: string): void => {
  print(`${holds ? 'ok    ' : 'FAILED'} ${what}`)
  if (!holds) failed += 1
}

/** Returns a function that returns how much the peaks of these processes have grown since the last call, in MiB. */
const createGrowth = (pids: readonly number[]) => {
  const peaks = () =>
    Promise.all(
      pids.map(async (pid) => {
        const status = await readFile(`/proc/${pid}/status`, 'utf8')
        return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024
      }),
    )
  let before: number[] = []
  return async (): Promise<number[]> => {
    const now = await peaks()
    const grown = now.map((peak, index) => Math.round(peak - (before[index] ?? peak)))
    // The peak begins again, at what is resident now.
    for (const pid of pids) await writeFile(`/proc/${pid}/clear_refs`, '5')
    before = await peaks()
    return grown
  }
}

/** Makes empty files with long random names, as a tenant who wants to hurt would. */
const make = `import os
os.makedirs('${folder}')
os.chdir('${folder}')
for n in range(${count}):
    os.close(os.open(os.urandom(${nameBytes / 2}).hex(), os.O_CREAT | os.O_WRONLY))
print(n + 1)`

const lists = async (server: Server, id: string): Promise<string> => {
  const pages = 5
  const names = new Set<string>()
  let cursor: string | undefined
  for (let page = 0; page < pages; page++) {
    const list = await server.client.call('listDockFiles', {
      params: { id },
      query: { path: folder, cursor },
    })
    for (const { name } of list.entries) names.add(name)
    cursor = list.nextCursor ?? undefined
  }
  if (names.size !== pages * 1000) throw new Error(`${pages} pages had ${names.size} names`)
  return `${pages} pages with 1000 names each`
}

const tar = async (server: Server, id: string): Promise<string> => {
  const { apiKey, baseUrl } = server.admin
  const curl = `curl -fsS -H @- -H 'accept: application/x-tar' '${baseUrl}/v1/docks/${id}/files?path=${folder}' | tar -t | grep -c /.`
  const run = promisify(execFile)('sh', ['-c', curl])
  run.child.stdin?.end(`authorization: Bearer ${apiKey}\n`)
  const found = Number((await run).stdout)
  if (found !== count) throw new Error(`the tar has ${found} files`)
  return `a tar of ${found} files`
}

const sftp = async (server: Server, id: string): Promise<string> => {
  const { ssh } = await server.client.call('readConfig', {})
  const client = await createSshClient(() => ssh?.port ?? 0)
  const publicKey = await client.makeKey('id', '-t', 'ed25519')
  await server.client.call('addSshKey', { body: { name: 'files', publicKey } })
  const script = `echo 'ls -1f ${folder}' | sftp -q -b - ${client.options().join(' ')} ${id}@127.0.0.1 | grep -c '/[0-9a-f]\\{${nameBytes}\\}$'`
  const { stdout, stderr } = await client.run('bash', ['-o', 'pipefail', '-c', script])
  await client.remove()
  if (Number(stdout) !== count) throw new Error(`sftp listed ${stdout} files: ${stderr}`)
  return `${count} names over sftp`
}

/** Sends a stream into a file and reads it back, and compares their sums. */
const transfers = async (server: Server, id: string): Promise<string> => {
  const { apiKey, baseUrl } = server.admin
  const script = `set -o pipefail; cd "$(mktemp -d)"
    curl() { command curl -fsS -H "authorization: Bearer $KEY" "$@" "${baseUrl}/v1/docks/${id}/files?path=/home/user/stream"; }
    { yes "$PWD and other words" || true; } | head -c ${transferBytes} | tee >(sha256sum >sent) | curl -T - >/dev/null || exit
    curl | sha256sum >received || exit
    cmp sent received && rm -r "$PWD" && echo same`
  const { stdout } = await promisify(execFile)('bash', ['-c', script], {
    env: { ...process.env, KEY: apiKey },
  })
  if (stdout !== 'same\n') throw new Error(`what came back is not what was sent: ${stdout}`)
  return `${transferBytes / 2 ** 30} GiB up and down`
}

const reads: [(server: Server, id: string) => Promise<string>, number][] = [
  [lists, grownMiBMax],
  [tar, grownMiBMax],
  [sftp, grownMiBMax],
  [transfers, transferGrownMiBMax],
]

await withServer({ DOCK_SSH_PORT: String(await freePort()), DOCK_WARM_POOL: '1' }, async (server) => {
  const pids = [(await processOf('control-plane', server))!, (await processOf('agent', server))!]
  const dock = await createDock(server, { cpus: 2, memoryMiB: 4096, diskGiB: 20 })
  const growth = createGrowth(pids)
  const made = await server.client.call('startDockProcess', {
    params: { id: dock.id },
    body: { argv: ['python3', '-c', make] },
  })
  const begin = performance.now()
  for (;;) {
    const process = await server.client.call('waitForDockProcess', {
      params: { id: dock.id, pid: made.id },
      query: { timeoutSeconds: 60 },
    })
    if (process.state === 'running') continue
    report(
      process.exitCode === 0,
      `${count} files were made in ${Math.round((performance.now() - begin) / 1000)} s`,
    )
    break
  }
  await growth()
  for (const [read, growthMax] of reads) {
    const started = performance.now()
    try {
      const what = await read(server, dock.id)
      const [controlPlane = Infinity, agent = Infinity] = await growth()
      report(
        Math.max(controlPlane, agent) <= growthMax,
        `${what} in ${((performance.now() - started) / 1000).toFixed(1)} s; the control plane's peak grew by ${controlPlane} MiB, the agent's by ${agent}`,
      )
    } catch (error) {
      report(false, `${read.name}: ${error}`)
    }
  }
})
print(
  failed === 0 ? 'pass: many and large files in a Dock cost the host no memory' : `fail: ${failed} checks`,
)
process.exit(failed === 0 ? 0 : 1)
