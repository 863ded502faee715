import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { limits, rateLimits, routes } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import {
  addPerson,
  startTestControlPlane,
  type TestControlPlane,
  type TestPerson,
  whileLocked,
} from '@dock/testkit'
import { createVirtualClock, type VirtualClock } from '@dock/testkit/src/virtual-clock.ts'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'

let server: TestControlPlane
let clock: VirtualClock
let folder: string
let person: TestPerson
let keyId: string
let file: string

beforeAll(async () => {
  clock = createVirtualClock()
  server = await startTestControlPlane({ clock })
  folder = mkdtempSync(join(tmpdir(), 'dock-proofs-'))
})
afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(async () => {
  person = await addPerson(server)
  file = join(folder, newUuid())
  execFileSync('ssh-keygen', ['-q', '-N', '', '-t', 'ed25519', '-f', file])
  keyId = await add(person)
})

const add = async ({ apiKey }: TestPerson): Promise<string> => {
  const publicKey = readFileSync(`${file}.pub`, 'utf8')
  const answer = await server.call('POST', '/v1/ssh-keys', { name: 'laptop', publicKey }, apiKey)
  return routes.addSshKey.response.parse(answer.body.data).id
}
const challenge = async (id = keyId, { apiKey } = person) =>
  routes.createSshKeyChallenge.response.parse(
    (await server.call('POST', `/v1/ssh-keys/${id}/challenge`, undefined, apiKey)).body.data,
  )
const sign = (text: string, namespace: string): string =>
  execFileSync('ssh-keygen', ['-Y', 'sign', '-n', namespace, '-f', file], {
    input: text,
    stdio: ['pipe', 'pipe', 'ignore'],
  }).toString()
const prove = (signature: string, id = keyId, { apiKey } = person) =>
  server.call('POST', `/v1/ssh-keys/${id}/proof`, { signature }, apiKey)
const proofs = async ({ apiKey } = person) =>
  routes.listSshKeyProofs.response.parse(
    (await server.call('GET', '/v1/ssh-keys/proofs', undefined, apiKey)).body.data,
  )
const refusal = { status: 400, body: { code: 'validation_error' } }

it('an added key is not proved until its challenge is signed', async () => {
  expect(await proofs()).toEqual([{ sshKeyId: keyId, provedAt: null, expiresAt: null }])
  const asked = await challenge()
  expect(asked.challenge).toMatch(
    /^dock-ssh-key v1 instance=http\S+ account=\S+@\S+ key=SHA256:\S+ nonce=[\w-]{43}$/,
  )
  expect(asked.namespace).toBe('dock-ssh-key@v1')
  const answer = await prove(sign(asked.challenge, asked.namespace))
  expect(answer.status).toBe(200)
  const proof = routes.proveSshKey.response.parse(answer.body.data)
  expect(proof.provedAt).toEqual(expect.any(String))
  expect(await proofs()).toEqual([proof])
})

it.each(['\n', '\r\n'])('the end of a line behind the challenge does not matter: %j', async (end) => {
  const asked = await challenge()
  expect((await prove(sign(asked.challenge + end, asked.namespace))).status).toBe(200)
})

it('a challenge is used once, and is replaced by the next one', async () => {
  const [first, second] = [await challenge(), await challenge()]
  expect(await prove(sign(first.challenge, first.namespace))).toMatchObject(refusal)
  const signature = sign(second.challenge, second.namespace)
  expect((await prove(signature)).status).toBe(200)
  expect(await prove(signature)).toMatchObject(refusal)
})

it('a challenge is used once, even by two proofs at a time', async () => {
  const asked = await challenge()
  const signature = sign(asked.challenge, asked.namespace)
  const answers = await whileLocked(
    server.database,
    { lock: 'select 1 from ssh_keys for update', waiting: 2 },
    () => Promise.all([prove(signature), prove(signature)]),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
})

it('a challenge ends', async () => {
  const asked = await challenge()
  clock.advance(limits.sshKeyProof.challengeSeconds * 1000)
  expect(await prove(sign(asked.challenge, asked.namespace))).toMatchObject(refusal)
})

it('a signature of something else, in another namespace, or by another key proves nothing', async () => {
  const asked = await challenge()
  const own = file
  for (const signature of [
    sign(`${asked.challenge} `, asked.namespace),
    sign(asked.challenge, 'git'),
    'nonsense',
  ])
    expect(await prove(signature)).toMatchObject(refusal)
  file = join(folder, newUuid())
  execFileSync('ssh-keygen', ['-q', '-N', '', '-t', 'ed25519', '-f', file])
  expect(await prove(sign(asked.challenge, asked.namespace))).toMatchObject(refusal)
  expect(await proofs()).toEqual([{ sshKeyId: keyId, provedAt: null, expiresAt: null }])
  // A wrong signature does not use the challenge up.
  file = own
  expect((await prove(sign(asked.challenge, asked.namespace))).status).toBe(200)
})

it('a signature for one account proves nothing for another', async () => {
  const other = await addPerson(server)
  const theirs = await add(other)
  const asked = await challenge()
  await challenge(theirs, other)
  const signature = sign(asked.challenge, asked.namespace)
  expect(await prove(signature, theirs, other)).toMatchObject(refusal)
  expect((await prove(signature)).status).toBe(200)
  expect(await proofs(other)).toEqual([{ sshKeyId: theirs, provedAt: null, expiresAt: null }])
})

it('a key of another person is not found', async () => {
  const other = await addPerson(server)
  for (const id of [keyId, newUuid(), 'nonsense']) {
    const asked = await server.call('POST', `/v1/ssh-keys/${id}/challenge`, undefined, other.apiKey)
    expect([asked.status, asked.body.code]).toEqual([404, 'ssh_key_not_found'])
    const proved = await prove('x', id, other)
    expect([proved.status, proved.body.code]).toEqual([404, 'ssh_key_not_found'])
  }
})

it('a key that is added again is not proved', async () => {
  const asked = await challenge()
  await prove(sign(asked.challenge, asked.namespace))
  await server.call('DELETE', `/v1/ssh-keys/${keyId}`, undefined, person.apiKey)
  const again = await add(person)
  expect(await proofs()).toEqual([{ sshKeyId: again, provedAt: null, expiresAt: null }])
})

it('a key that was added with an API key that expires ends with it', async () => {
  const expiresAt = new Date(clock.now().getTime() + 3_600_000).toISOString()
  const made = await server.call('POST', '/v1/api-keys', { name: 'ci', expiresAt }, person.apiKey)
  const apiKey = routes.createApiKey.response.parse(made.body.data).apiKey
  await server.call('DELETE', `/v1/ssh-keys/${keyId}`, undefined, person.apiKey)
  const sshKeyId = await add({ ...person, apiKey })
  expect(await proofs()).toEqual([{ sshKeyId, provedAt: null, expiresAt }])
  clock.advance(3_600_000)
  expect(await proofs()).toEqual([])
  expect((await server.call('GET', '/v1/ssh-keys', undefined, person.apiKey)).body.data).toEqual([])
  const asked = await server.call('POST', `/v1/ssh-keys/${sshKeyId}/challenge`, undefined, person.apiKey)
  expect(asked.body.code).toBe('ssh_key_not_found')
  // It does not keep the key from being added for longer, and is gone.
  expect(await proofs()).toEqual([])
  const again = await add(person)
  expect(await proofs()).toEqual([{ sshKeyId: again, provedAt: null, expiresAt: null }])
})

it('challenges and proofs are limited', async () => {
  const { max } = rateLimits.sshKeyProofs
  const statuses: number[] = []
  for (let n = 0; n <= max; n += 1) statuses.push((await prove('x')).status)
  expect(statuses.at(-2)).toBe(400)
  expect(statuses.at(-1)).toBe(429)
})
