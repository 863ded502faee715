/**
 * script/bench api: measures authenticated GET /v1/me with an API key, on one control plane process with the default
 * database. Every request reads the credential from the database. Compares it with the bare framework in the same run.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmod, mkdir, mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startPostgres } from '@dock/embedded-postgres'
import { freePort } from '@dock/testkit/src/free-port.ts'
import autocannon from 'autocannon'
import { controlPlaneFlags } from '../apps/supervisor/src/control-plane.ts'

const connections = 50
const seconds = Number(process.env.DOCK_BENCH_SECONDS ?? '10')
const warmUpSeconds = 3
const wanted = { requestsPerSecond: 3000, p99Ms: 50 }
const readyWithinMs = 60_000

const checkout = new URL('..', import.meta.url).pathname

type Server = { url: string; process: ChildProcess }

/** Starts a program with its log in a file, like script/server, and waits until it responds. */
const start = async (
  main: string,
  folder: string,
  environment: Record<string, string>,
  flags: readonly string[] = [],
): Promise<Server> => {
  const port = await freePort()
  const log = await open(join(folder, 'log'), 'a')
  const child = spawn(process.execPath, [...flags, join(checkout, main)], {
    env: { ...process.env, ...environment, PORT: String(port) },
    stdio: ['ignore', log.fd, log.fd],
  })
  await log.close()
  const url = `http://127.0.0.1:${port}`
  const deadline = Date.now() + readyWithinMs
  while (!(await fetch(`${url}/v1/me`).catch(() => null))) {
    if (child.exitCode !== null || Date.now() > deadline)
      throw new Error(`${main} does not respond:\n${await readFile(join(folder, 'log'), 'utf8')}`)
    await delay(100)
  }
  return { url, process: child }
}

const end = async ({ process: child }: Server): Promise<void> => {
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await ended
}

type Figures = { requestsPerSecond: number; p50Ms: number; p99Ms: number; refused: number }

const measure = async (server: Server, authorization: string): Promise<Figures> => {
  const options = { url: `${server.url}/v1/me`, connections, headers: { authorization } }
  await autocannon({ ...options, duration: warmUpSeconds })
  const result = await autocannon({ ...options, duration: seconds })
  return {
    requestsPerSecond: result.requests.average,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    refused: result.non2xx + result.errors,
  }
}

const line = (name: string, figures: Figures): string =>
  `${name.padEnd(34)} ${figures.requestsPerSecond.toFixed(0).padStart(7)} requests/s  p50 ${figures.p50Ms} ms  p99 ${figures.p99Ms} ms  refused ${figures.refused}`

const folder = await mkdtemp(join(tmpdir(), 'dock-bench-api-'))
// PostgreSQL runs as another user, who needs access to the subfolders.
await chmod(folder, 0o755)
const postgres = await startPostgres({
  dataDir: join(folder, 'pg'),
  socketDir: join(folder, 'run'),
  logPath: join(folder, 'postgres.log'),
})
try {
  const controlDir = join(folder, 'control')
  await mkdir(controlDir)
  execFileSync(join(checkout, 'script/install/compile'))
  const environment = {
    DATABASE_URL: postgres.url,
    DOCK_CONTROL_DIR: controlDir,
    DOCK_EMBEDDED_HOST: 'off',
    DOCK_METRICS_PORT: '0',
  }
  const server = await start('.tools/compiled/control-plane.mjs', folder, environment, controlPlaneFlags)
  const { apiKey } = JSON.parse(await readFile(join(controlDir, 'admin.json'), 'utf8')) as { apiKey: string }
  const ours = await measure(server, `Bearer ${apiKey}`)
  await end(server)
  const bareServer = await start('bench/bare-framework.ts', folder, {})
  const bare = await measure(bareServer, `Bearer ${apiKey}`)
  await end(bareServer)
  const holds =
    ours.requestsPerSecond >= wanted.requestsPerSecond && ours.p99Ms < wanted.p99Ms && ours.refused === 0
  console.log(`GET /v1/me at ${connections} connections, ${seconds} s after ${warmUpSeconds} s of warm-up`)
  console.log(line('by API key, read from the database', ours))
  console.log(line('the bare framework', bare))
  console.log(
    `ratio ${(ours.requestsPerSecond / bare.requestsPerSecond).toFixed(2)} of the bare framework; wanted ${wanted.requestsPerSecond} requests/s and p99 under ${wanted.p99Ms} ms: ${holds ? 'holds' : 'MISSED'}`,
  )
  process.exitCode = holds ? 0 : 1
} finally {
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
}
