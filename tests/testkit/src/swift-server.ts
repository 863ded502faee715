/**
 * A real third-party S3 server for tests: OpenStack Swift from Debian's python3-swift, on loopback, without memcached
 * or files in /etc. It has four processes and starts in a few seconds.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from './free-port.ts'

export type SwiftServer = {
  endpoint: string
  accessKeyId: string
  secretAccessKey: string
  stop(): Promise<void>
}

const python = '/usr/bin/python3'
const program = join(import.meta.dirname, '../swift/serve.py')
const readyDeadlineMs = 90_000
const retryMs = 100

const storageConf = (folder: string, kind: string, port: number): string => `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
user = root
workers = 0
swift_dir = ${folder}
devices = ${folder}/srv
mount_check = false
disable_fallocate = true

[pipeline:main]
pipeline = ${kind}-server

[app:${kind}-server]
use = egg:swift#${kind}
recon_cache_path = ${folder}/cache
`

const proxyConf = (folder: string, port: number): string => `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
user = root
workers = 0
swift_dir = ${folder}

[pipeline:main]
pipeline = catch_errors gatekeeper healthcheck cache listing_formats bulk s3api tempauth copy slo dlo versioned_writes symlink proxy-server

[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true

[filter:s3api]
use = egg:swift#s3api
location = us-east-1
s3_acl = false
storage_domain = localhost

[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin

[filter:slo]
use = egg:swift#slo
rate_limit_after_segment = 1000
${[
  'catch_errors',
  'gatekeeper',
  'healthcheck',
  'cache',
  'listing_formats',
  'bulk',
  'copy',
  'dlo',
  'versioned_writes',
  'symlink',
]
  .map((name) => `\n[filter:${name}]\nuse = egg:swift#${name === 'cache' ? 'memcache' : name}\n`)
  .join('')}`

/** Starts the servers and creates a bucket. If they do not start in time, throws an error with their output. */
export async function startSwift(bucket: string): Promise<SwiftServer> {
  const folder = await mkdtemp(join(tmpdir(), 'swift-'))
  await mkdir(join(folder, 'srv/d1'), { recursive: true })
  await mkdir(join(folder, 'cache'))
  const ports = { account: 0, container: 0, object: 0, proxy: 0 }
  for (const kind of Object.keys(ports) as (keyof typeof ports)[]) ports[kind] = await freePort()
  const conf = (name: string, text: string) => writeFile(join(folder, name), text)
  await conf(
    'swift.conf',
    '[swift-hash]\nswift_hash_path_prefix = a\nswift_hash_path_suffix = b\n\n[storage-policy:0]\nname = one\ndefault = yes\n',
  )
  for (const kind of ['account', 'container', 'object'] as const)
    await conf(`${kind}-server.conf`, storageConf(folder, kind, ports[kind]))
  await conf('proxy-server.conf', proxyConf(folder, ports.proxy))
  const run = promisify(execFile)
  const environment = { PATH: '/usr/bin:/bin', HOME: folder }
  await run(python, [program, folder, 'ring', `${ports.account}`, `${ports.container}`, `${ports.object}`], {
    env: environment,
  })

  let output = ''
  const children: ChildProcess[] = Object.keys(ports).map((kind) => {
    const child = spawn(python, [program, folder, kind], {
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (text: Buffer) => {
        output = `${output}${text}`.slice(-4000)
      })
    return child
  })
  const stop = async (): Promise<void> => {
    await Promise.all(
      children.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return
        const ended = new Promise((resolve) => child.once('exit', resolve))
        child.kill('SIGKILL')
        await ended
      }),
    )
    await rm(folder, { recursive: true, force: true })
  }

  const endpoint = `http://127.0.0.1:${ports.proxy}`
  const credentials = { accessKeyId: 'test:tester', secretAccessKey: 'testing' }
  const { BucketAlreadyOwnedByYou, CreateBucketCommand, DeleteObjectCommand, PutObjectCommand, S3Client } =
    await import('@aws-sdk/client-s3')
  const client = new S3Client({
    endpoint,
    credentials,
    region: 'us-east-1',
    forcePathStyle: true,
    maxAttempts: 1,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
  const deadline = Date.now() + readyDeadlineMs
  for (;;) {
    try {
      // An earlier try may have made it, and may not have got so far as the object.
      await client.send(new CreateBucketCommand({ Bucket: bucket })).catch((error: unknown) => {
        if (!(error instanceof BucketAlreadyOwnedByYou)) throw error
      })
      // The object server starts at its own pace, and a bucket needs only the container server.
      await client.send(new PutObjectCommand({ Bucket: bucket, Key: 'probe', Body: '' }))
      await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'probe' }))
      break
    } catch (error) {
      if (Date.now() > deadline || children.some((child) => child.exitCode !== null)) {
        await stop()
        throw new Error(`Swift did not start (is python3-swift installed?): ${output}`, { cause: error })
      }
      await delay(retryMs)
    }
  }
  return { endpoint, ...credentials, stop }
}
