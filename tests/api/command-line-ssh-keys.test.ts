/** How the command line proves SSH keys, with the ssh-keygen and ssh-agent of this machine. */
import { execFileSync } from 'node:child_process'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { addPerson, startTestControlPlane, type TestControlPlane } from '@dock/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Cli, createCli } from '../e2e/support/run-cli.ts'

type Listed = { name: string; provedAt: string | null }

let server: TestControlPlane
let baseUrl: string
let apiKey: string
let cli: Cli
let agent: { socket: string; pid: number } | undefined
let relay: Server | undefined

beforeAll(async () => {
  server = await startTestControlPlane()
  baseUrl = `http://127.0.0.1:${(await server.listen()).port}`
})
afterAll(() => server?.stop())
beforeEach(async () => {
  apiKey = (await addPerson(server)).apiKey
  cli = await createCli({ baseUrl, apiKey })
  await mkdir(file(''), { recursive: true })
  await makeKey('id_ed25519')
})
afterEach(async () => {
  if (agent) process.kill(agent.pid)
  agent = undefined
  relay?.close()
  relay = undefined
  await cli.remove()
})

const file = (name: string): string => join(cli.folder, 'home/.ssh', name)
const makeKey = async (name: string): Promise<void> => {
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file(name)])
}
/** Puts the private key into an agent and removes its file. */
const moveToAgent = async (name: string): Promise<{ SSH_AUTH_SOCK: string }> => {
  const socket = join(cli.folder, 'agent')
  const said = execFileSync('ssh-agent', ['-a', socket]).toString()
  agent = { socket, pid: Number(/SSH_AGENT_PID=(\d+)/.exec(said)?.[1]) }
  const env = { SSH_AUTH_SOCK: socket }
  execFileSync('ssh-add', ['-q', file(name)], { env: { ...process.env, ...env }, stdio: 'ignore' })
  await rm(file(name))
  return env
}
const listed = (): Promise<Listed[]> => cli.json('ssh-key', 'ls')
const proved = { provedAt: expect.any(String) }

it('adds a key and proves it', async () => {
  const ended = await cli.run(['ssh-key', 'add', '--name', 'laptop'])
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Added SHA256:\S+, proved\.\n$/) })
  expect(await listed()).toMatchObject([{ name: 'laptop', ...proved }])
})

it('proves a key whose private half only an agent has', async () => {
  const env = await moveToAgent('id_ed25519')
  expect(await cli.run(['ssh-key', 'add'], { env })).toMatchObject({ code: 0 })
  expect(await listed()).toMatchObject([proved])
})

it('adds a key that it cannot prove, says why, and proves it later', async () => {
  await rename(file('id_ed25519'), file('elsewhere'))
  const ended = await cli.run(['ssh-key', 'add', '--name', 'laptop'])
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Added SHA256:\S+\.\n$/) })
  expect(ended.stderr).toContain('The key is not proved: This computer cannot sign with the key')
  expect(ended.stderr).toContain('dock ssh-key prove')
  expect(await listed()).toMatchObject([{ provedAt: null }])
  expect(await cli.run(['ssh-key', 'prove'])).toMatchObject({ code: 1 })
  await rename(file('elsewhere'), file('id_ed25519'))
  expect(await cli.run(['ssh-key', 'prove'])).toMatchObject({ code: 0, stdout: 'Proved laptop.\n' })
  expect(await listed()).toMatchObject([proved])
  expect((await cli.run(['ssh-key', 'prove'])).stderr).toContain('All your SSH keys here are proved.')
})

it('proves all keys that this computer has, from files and from an agent', async () => {
  await makeKey('work')
  await makeKey('gone')
  const add = (name: string) =>
    cli.bash(
      `curl -fsS -H "authorization: Bearer ${apiKey}" -H 'content-type: application/json' ${baseUrl}/v1/ssh-keys ` +
        `-d "{\\"name\\": \\"${name}\\", \\"publicKey\\": \\"$(cat ~/.ssh/${name}.pub)\\"}"`,
    )
  for (const name of ['id_ed25519', 'work', 'gone']) expect(await add(name)).toMatchObject({ code: 0 })
  await Promise.all([rm(file('gone')), rm(file('gone.pub'))])
  const env = await moveToAgent('work')
  await rm(file('work.pub'))
  const ended = await cli.run(['ssh-key', 'prove'], { env })
  expect(ended).toMatchObject({ code: 0, stdout: 'Proved work.\nProved id_ed25519.\n' })
  expect(ended.stderr).toContain('gone is not proved')
  expect((await listed()).map(({ name, provedAt }) => [name, provedAt !== null])).toEqual([
    ['gone', false],
    ['work', true],
    ['id_ed25519', true],
  ])
})

it('does not sign what a service passes on from another one', async () => {
  await cli.run(['ssh-key', 'add', '--name', 'laptop'])
  const seen: string[] = []
  relay = createServer((request, response) => {
    const pass = async (): Promise<void> => {
      let body = ''
      for await (const part of request) body += part
      if (request.url?.endsWith('/proof')) seen.push(body)
      const answer = await fetch(`${baseUrl}${request.url}`, {
        method: request.method ?? 'GET',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        ...(body === '' ? {} : { body }),
      })
      // As if the instance had its own address, which is not that of the relay.
      const text = (await answer.text()).replace(
        /instance=\S+ account/,
        'instance=https://other.test account',
      )
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text)
    }
    void pass()
  })
  await new Promise<void>((resolve) => relay?.listen(0, '127.0.0.1', resolve))
  const env = { DOCK_URL: `http://127.0.0.1:${(relay.address() as AddressInfo).port}`, DOCK_API_KEY: apiKey }
  const ended = await cli.run(['ssh-key', 'prove', file('id_ed25519.pub')], { env })
  expect(ended.code).toBe(1)
  expect(ended.stderr).toContain('asks for a signature for https://other.test')
  expect(seen).toEqual([])
})

it('says which file is no key of the account', async () => {
  const { code, stderr } = await cli.run(['ssh-key', 'prove', file('id_ed25519.pub')])
  expect([code, stderr]).toEqual([5, expect.stringContaining('is not in your account')])
  await writeFile(file('private.pub'), await readFile(file('id_ed25519')))
  expect((await cli.run(['ssh-key', 'prove', file('private.pub')])).stderr).toContain('is a private key')
})
