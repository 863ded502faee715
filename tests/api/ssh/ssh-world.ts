/** A control plane whose SSH gateway listens, and a client with a registered key of the first person. */
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
  await addKey(await client.makeKey('id', '-t', 'ed25519'))
  return {
    ...{ server, client, port, addKey },
    stop: async () => {
      await server.stop()
      await client.remove()
    },
  }
}
