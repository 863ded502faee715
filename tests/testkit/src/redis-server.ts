/** A real Redis server for tests, without persistence. The package redis-tools has the program under another name. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { freePort } from './free-port.ts'

export type RedisServer = {
  port: number
  url: string
  /** Suspends the process until {@link RedisServer.resume}. */
  pause(): void
  resume(): void
  stop(): Promise<void>
}

const programs = ['valkey-server', 'redis-server', 'valkey-check-rdb', 'redis-check-rdb']

const findProgram = (): string => {
  const found = programs.map((name) => `/usr/bin/${name}`).find((path) => existsSync(path))
  if (!found) throw new Error('found no Redis server: run apt-get install redis-tools, as script/test does')
  return found
}

/** Starts a server on a loopback port. Resolves when it accepts connections. */
export async function startRedis(wantedPort?: number): Promise<RedisServer> {
  const port = wantedPort ?? (await freePort())
  const program = findProgram()
  // The program's function depends on the name that it is called by.
  const child = spawn(
    program,
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
    {
      argv0: program.includes('valkey') ? 'valkey-server' : 'redis-server',
      stdio: ['ignore', 'pipe', 'inherit'],
      cwd: '/',
    },
  )
  const ended = once(child, 'exit')
  let output = ''
  await new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (/ready to accept connections/i.test(output)) resolve()
    })
    child.once('error', reject)
    void ended.then(() => reject(new Error(`${program} ended:\n${output}`)))
  })
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    pause: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
    stop: async () => {
      child.kill('SIGCONT')
      child.kill('SIGTERM')
      await ended
    },
  }
}
