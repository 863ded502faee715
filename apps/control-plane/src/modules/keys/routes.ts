/** Routes of API keys, SSH keys, model provider keys, and the hosted assistant's connection. */
import type { Handlers } from '../../routing/handler.ts'
import { createApiKey } from './api-keys/create-api-key.ts'
import { listApiKeys } from './api-keys/list-api-keys.ts'
import { revokeApiKey } from './api-keys/revoke-api-key.ts'
import { deleteAssistantConnection, readAssistantConnection } from './assistant/assistant-connection.ts'
import { pollDeviceSignIn } from './assistant/poll-device-sign-in.ts'
import { startDeviceSignIn } from './assistant/start-device-sign-in.ts'
import { createDeviceCode } from './device-codes/create-device-code.ts'
import { redeemDeviceCode } from './device-codes/redeem-device-code.ts'
import type { KeysContext } from './keys-context.ts'
import {
  deleteProviderKey,
  listProviderKeys,
  revealProviderKey,
  setProviderKey,
} from './provider-keys/provider-keys.ts'
import { addSshKey } from './ssh-keys/add-ssh-key.ts'
import { createSshKeyChallenge } from './ssh-keys/create-ssh-key-challenge.ts'
import { deleteSshKey } from './ssh-keys/delete-ssh-key.ts'
import { listSshKeyProofs } from './ssh-keys/list-ssh-key-proofs.ts'
import { listSshKeys } from './ssh-keys/list-ssh-keys.ts'
import { proveSshKey } from './ssh-keys/prove-ssh-key.ts'

export function keyRoutes(context: KeysContext): Handlers {
  return {
    createApiKey: ({ caller, body }) => createApiKey(context, caller, body),
    listApiKeys: ({ caller }) => listApiKeys(context.db, caller),
    revokeApiKey: ({ caller, params }) => revokeApiKey(context, caller, params.id),
    addSshKey: ({ caller, body }) => addSshKey(context, caller, body),
    listSshKeys: ({ caller }) => listSshKeys(context, caller),
    deleteSshKey: ({ caller, params }) => deleteSshKey(context, caller, params.id),
    listSshKeyProofs: ({ caller }) => listSshKeyProofs(context, caller),
    createSshKeyChallenge: ({ caller, params }) => createSshKeyChallenge(context, caller, params.id),
    proveSshKey: ({ caller, params, body }) => proveSshKey(context, caller, params.id, body),
    createDeviceCode: ({ body, clientAddress }) => createDeviceCode(context, body, clientAddress),
    redeemDeviceCode: ({ body, clientAddress }) => redeemDeviceCode(context, body, clientAddress),
    listProviderKeys: ({ caller }) => listProviderKeys(context, caller),
    setProviderKey: ({ caller, body }) => setProviderKey(context, caller, body),
    revealProviderKey: ({ caller, params }) => revealProviderKey(context, caller, params.provider),
    deleteProviderKey: ({ caller, params }) => deleteProviderKey(context, caller, params.provider),
    readAssistantConnection: ({ caller }) => readAssistantConnection(context, caller),
    startDeviceSignIn: ({ caller }) => startDeviceSignIn(context, caller),
    pollDeviceSignIn: ({ caller }) => pollDeviceSignIn(context, caller),
    deleteAssistantConnection: ({ caller }) => deleteAssistantConnection(context, caller),
  }
}
