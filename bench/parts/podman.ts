/**
 * Measures a plain container with podman's API on this machine for comparison: created from the same root filesystem,
 * started, with a login bash. It has no separate kernel and no persistent disk.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, writeFile } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { runCommand, tryCommand } from '@dock/foundation'
import { newDataDir, removeDataDir } from '../../tests/e2e/support/server.ts'
import { compare, sample } from '../figures.ts'
import { imageCache, print } from './bench-server.ts'

const image = 'dock-bench'
/** Without a network, because creating one takes 50 ms or more and leaves firewall rules on this machine. */
const kind = { image, command: ['sleep', 'infinity'], netns: { nsmode: 'none' } }
const root = join(import.meta.dirname, '../..')

export type Podman = {
  /** Starts a container and returns its id. */
  create(): Promise<string>
  /** Runs a script in a login bash as the image's user, and returns its output with podman's frames. */
  exec(container: string, script: string): Promise<string>
  remove(container: string): Promise<unknown>
  stop(): Promise<void>
}

const idIn = (answer: string): string => (JSON.parse(answer) as { Id: string }).Id

/** Starts podman's service with its own storage in `folder`. */
export async function startPodman(folder: string): Promise<Podman> {
  const settings = join(folder, 'containers.conf')
  await writeFile(
    settings,
    '[containers]\ndefault_ulimits=["nofile=1024:1024","nproc=1024:1024"]\n[engine]\nruntime="runc"\nexit_command_delay=0\n',
  )
  const env = { ...process.env, CONTAINERS_CONF: settings }
  const options = ['--root', join(folder, 'root'), '--runroot', join(folder, 'run')]
  const archive = await runCommand(join(root, 'script/install/image-archive'), ['debian-13', imageCache()])
  await runCommand('podman', [...options, 'import', archive.trim(), image], { env })
  const socketPath = join(folder, 'socket')
  const service = spawn('podman', [...options, 'system', 'service', '--time=0', `unix://${socketPath}`], {
    env,
    stdio: 'ignore',
  })
  while (
    !(await access(socketPath).then(
      () => true,
      () => false,
    ))
  )
    await delay(50)
  const call = async (method: string, path: string, body?: object): Promise<string> => {
    const headers = { 'content-type': 'application/json' }
    const outgoing = request({ socketPath, method, path: `/v4.0.0/libpod${path}`, headers })
    outgoing.end(body && JSON.stringify(body))
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
    const text = Buffer.concat(await response.toArray()).toString()
    if ((response.statusCode ?? 500) >= 400) throw new Error(`${method} ${path}: ${text}`)
    return text
  }
  return {
    create: async () => {
      const made = idIn(await call('POST', '/containers/create', kind))
      await call('POST', `/containers/${made}/start`)
      return made
    },
    exec: async (container, script) => {
      const Cmd = ['/bin/bash', '-lc', script]
      const command = { AttachStdout: true, AttachStderr: true, User: '1000:1000', Cmd }
      const session = idIn(await call('POST', `/containers/${container}/exec`, command))
      return call('POST', `/exec/${session}/start`, { Detach: false })
    },
    remove: (container) => call('DELETE', `/containers/${container}?force=true&timeout=0`),
    stop: async () => {
      const ended = once(service, 'exit')
      service.kill()
      await ended
      await runCommand('podman', [...options, 'system', 'reset', '--force'], { env })
    },
  }
}

export function isPodmanInstalled(): Promise<boolean> {
  return tryCommand('podman', ['--version']).then(
    ({ code }) => code === 0,
    () => false,
  )
}

export async function benchPodman(count: number): Promise<void> {
  if (!(await isPodmanInstalled())) return void print('skipped: podman is not installed')
  const folder = await newDataDir()
  const podman = await startPodman(folder)
  const exec = async (container: string): Promise<void> => {
    const output = await podman.exec(container, 'echo ready')
    if (!output.includes('ready')) throw new Error(`podman's exec returned ${JSON.stringify(output)}`)
  }
  const containers = [await podman.create()]
  try {
    const tti = await sample('podman, create to first exec', count, async () => {
      const made = await podman.create()
      containers.push(made)
      await exec(made)
    })
    print(compare(tti, undefined))
    print(compare(await sample('podman, exec', count * 2, () => exec(containers[0]!)), undefined))
  } finally {
    for (const each of containers) await podman.remove(each)
    await podman.stop()
    await removeDataDir(folder)
  }
}
