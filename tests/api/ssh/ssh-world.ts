/** A control plane whose SSH gateway listens, and a client with a proved key of the first person. */
import type { SshKeyChallenge } from '@dock/contract'
import {
  type ControlPlaneWithHost,
  startControlPlaneWithHost,
  type TestControlPlaneOptions,
} from '@dock/testkit'
import { createSshClient, type SshClient } from './ssh-client.ts'

export type SshWorld = {
  server: ControlPlaneWithHost
  client: SshClient
  port: number
  /** Adds a public key to the account of an API key, by default the first person's. Returns the key's id. */
  addKey(publicKey: string, apiKey?: string): Promise<string>
  /** Proves the added key of the file `name` with its signature. */
  proveKey(keyId: string, name: string, apiKey?: string): Promise<void>
  stop(): Promise<void>
}

export async function startSshWorld(
  options: Omit<TestControlPlaneOptions, 'hostGateway'> = {},
): Promise<SshWorld> {
  const server = await startControlPlaneWithHost({
    ...options,
    environment: { DOCK_SSH_PORT: '2222', ...options.environment },
  })
  const port = await server.listenForSsh()
  const client = await createSshClient(() => port)
  const addKey: SshWorld['addKey'] = async (publicKey, apiKey) => {
    const answer = await server.call('POST', '/v1/ssh-keys', { name: 'test', publicKey }, apiKey)
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
    return (answer.body.data as { id: string }).id
  }
  const proveKey: SshWorld['proveKey'] = async (keyId, name, apiKey) => {
    const asked = await server.call('POST', `/v1/ssh-keys/${keyId}/challenge`, undefined, apiKey)
    const { challenge, namespace } = asked.body.data as SshKeyChallenge
    const signature = await client.sign(name, challenge, namespace)
    const answer = await server.call('POST', `/v1/ssh-keys/${keyId}/proof`, { signature }, apiKey)
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  }
  await proveKey(await addKey(await client.makeKey('id', '-t', 'ed25519')), 'id')
  return {
    ...{ server, client, port, addKey, proveKey },
    stop: async () => {
      await server.stop()
      await client.remove()
    },
  }
}
