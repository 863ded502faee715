/** Proves that a person has the private key of an SSH key of their account, with a signature by `ssh-keygen`. */
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SshKey, SshKeyProof } from '@dock/sdk'
import type { Context, Environment } from '../program/context.ts'
import { LocalError } from '../program/failures.ts'
import { isLoopback } from '../settings/connection.ts'
import { filesOfKey, type PublicKeyFile, signingFile } from './ssh-key-files.ts'

/** Not taken from the service, which could ask for a signature that counts elsewhere, for example as one of a commit. */
const namespace = 'dock-ssh-key@v1'
const challengeForm = /^dock-ssh-key v1 instance=(\S+) account=\S+ key=SHA256:\S+ nonce=[\w-]+$/

/**
 * Proves a key. `given` is the file with the public key, if it is known. The private key may be in a file or in an agent.
 * ssh-keygen asks for its passphrase. Throws LocalError with the reason if this computer cannot sign.
 */
export async function proveSshKey(
  context: Context,
  key: SshKey,
  given?: PublicKeyFile,
): Promise<SshKeyProof> {
  const client = await context.client()
  const params = { id: key.id }
  const { challenge } = await client.call('createSshKeyChallenge', { params })
  await requireOwnService(context, challenge, client.baseUrl)
  const folder = await mkdtemp(join(tmpdir(), 'dock-proof-'))
  try {
    const file = given ?? (await filesOfKey(context.env, key.publicKey))[0]
    const fallback = { file: join(folder, 'key.pub'), line: key.publicKey }
    if (!file) await writeFile(fallback.file, `${fallback.line}\n`)
    const signature = await sign(context.env, folder, await signingFile(file ?? fallback), challenge)
    return await client.call('proveSshKey', { params, body: { signature } })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Another service could pass on a challenge that it got from this person's own one. */
const requireOwnService = async (context: Context, challenge: string, baseUrl: string): Promise<void> => {
  const instance = challengeForm.exec(challenge)?.[1]
  if (instance === undefined || !URL.canParse(instance))
    throw new LocalError(
      'ssh_refused',
      'The service asked for a signature of something else. Nothing was signed.',
    )
  const [named, called] = [new URL(instance), new URL(baseUrl)]
  if (named.origin === called.origin || (isLoopback(named.hostname) && isLoopback(called.hostname))) return
  await context.confirm(
    `You call the service ${called.origin}, and it asks for a signature for ${named.origin}. Sign?`,
  )
}

/** Returns the signature. The text is in a file, because ssh-keygen asks for a passphrase only if its input is a terminal. */
const sign = async (env: Environment, folder: string, key: string, text: string): Promise<string> => {
  const message = join(folder, 'challenge')
  await writeFile(message, text)
  const { code, said } = await runKeygen(env, ['-Y', 'sign', '-n', namespace, '-f', key, message])
  if (code === 0) return readFile(`${message}.sig`, 'utf8')
  const reason = said.trim().split('\n').at(-1) ?? ''
  throw new LocalError(
    'ssh_key_unsigned',
    `This computer cannot sign with the key${reason && ` (${reason})`}. Its private key must be in a file beside the ` +
      'public one or in your SSH agent, and ssh-keygen must be of OpenSSH 8.2 or newer. The page of SSH keys in the ' +
      'dashboard shows how to sign elsewhere.',
  )
}

const runKeygen = (env: Environment, args: string[]): Promise<{ code: number | null; said: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn('ssh-keygen', args, { stdio: ['inherit', 'ignore', 'pipe'], env: { ...env } })
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (part: string) => {
      said += part
    })
    child.once('error', () =>
      reject(new LocalError('ssh_missing', 'The program ssh-keygen is missing. Install an OpenSSH client.')),
    )
    child.once('close', (code) => resolve({ code, said }))
  })
