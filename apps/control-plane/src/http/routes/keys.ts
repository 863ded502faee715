/** Routes of API keys, SSH keys, model provider keys, and the hosted assistant's connection. */
import {
  addSshKey,
  createApiKey,
  createDeviceCode,
  createSshKeyChallenge,
  deleteAssistantConnection,
  deleteProviderKey,
  deleteSshKey,
  type KeysContext,
  listApiKeys,
  listProviderKeys,
  listSshKeyProofs,
  listSshKeys,
  pollDeviceSignIn,
  proveSshKey,
  readAssistantConnection,
  redeemDeviceCode,
  revealProviderKey,
  revokeApiKey,
  setProviderKey,
  startDeviceSignIn,
} from '../../modules/keys/index.ts'
import type { Handlers } from '../../routing/handler.ts'

export function keyHandlers(context: KeysContext): Handlers {
  return {
    createApiKey: ({ caller, body }) => createApiKey(context, caller, body),
    listApiKeys: ({ caller }) => listApiKeys(context.db, caller),
    revokeApiKey: ({ caller, params }) => revokeApiKey(context, caller, params.id),
    addSshKey: ({ caller, body }) => addSshKey(context, caller, body),
    listSshKeys: ({ caller }) => listSshKeys(context, caller),
    deleteSshKey: ({ caller, params }) => deleteSshKey(context.db, caller, params.id),
    listSshKeyProofs: ({ caller }) => listSshKeyProofs(context, caller),
    createSshKeyChallenge: ({ caller, params }) => createSshKeyChallenge(context, caller, params.id),
    proveSshKey: ({ caller, params, body }) => proveSshKey(context, caller, params.id, body),
    createDeviceCode: ({ body, clientAddress }) => createDeviceCode(context, body, clientAddress),
    redeemDeviceCode: ({ body, clientAddress }) => redeemDeviceCode(context, body, clientAddress),
  }
}

export function providerKeyHandlers(context: KeysContext): Handlers {
  return {
    listProviderKeys: ({ caller }) => listProviderKeys(context, caller),
    setProviderKey: ({ caller, body }) => setProviderKey(context, caller, body),
    revealProviderKey: ({ caller, params }) => revealProviderKey(context, caller, params.provider),
    deleteProviderKey: ({ caller, params }) => deleteProviderKey(context, caller, params.provider),
  }
}

export function assistantHandlers(context: KeysContext): Handlers {
  return {
    readAssistantConnection: ({ caller }) => readAssistantConnection(context, caller),
    startDeviceSignIn: ({ caller }) => startDeviceSignIn(context, caller),
    pollDeviceSignIn: ({ caller }) => pollDeviceSignIn(context, caller),
    deleteAssistantConnection: ({ caller }) => deleteAssistantConnection(context, caller),
  }
}
