import type { Client } from '@dock/sdk'
import type { SshClient } from './ssh-client.ts'

/** Makes the key `id` of the client, adds it to the account, and proves it. Returns the key's id. */
export async function addProvedKey(api: Client, client: SshClient, name: string): Promise<string> {
  const publicKey = await client.makeKey('id', '-t', 'ed25519')
  const { id } = await api.call('addSshKey', { body: { name, publicKey } })
  const { challenge, namespace } = await api.call('createSshKeyChallenge', { params: { id } })
  const signature = await client.sign('id', challenge, namespace)
  await api.call('proveSshKey', { params: { id }, body: { signature } })
  return id
}
