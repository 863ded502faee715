/**
 * Public interface of the keys module: API keys, Dock keys, SSH keys, model provider keys, and the connection to the
 * hosted assistant.
 */
export { insertApiKey } from './api-key-store.ts'
export type { AuthenticateApiKey } from './authenticate-api-key.ts'
export { createKeysModule, type KeysModule } from './create-keys-module.ts'
export type { DeviceFlowSettings } from './device-flow.ts'
export { deleteDockKeysSql, issueDockKey, listLiveDockKeyIds, revokeDockKeys } from './dock-keys.ts'
export { dropKeys } from './drop-keys.ts'
export type { KeysContext } from './keys-context.ts'
export { addSshKey } from './operations/add-ssh-key.ts'
export { deleteAssistantConnection, readAssistantConnection } from './operations/assistant-connection.ts'
export { createApiKey } from './operations/create-api-key.ts'
export { deleteSshKey } from './operations/delete-ssh-key.ts'
export { listApiKeys } from './operations/list-api-keys.ts'
export { listSshKeys } from './operations/list-ssh-keys.ts'
export { pollDeviceSignIn } from './operations/poll-device-sign-in.ts'
export {
  deleteProviderKey,
  listProviderKeys,
  openProviderKeys,
  revealProviderKey,
  setProviderKey,
} from './operations/provider-keys.ts'
export { revokeApiKey } from './operations/revoke-api-key.ts'
export { startDeviceSignIn } from './operations/start-device-sign-in.ts'
export { maskApiKeys } from './raw-api-key.ts'
export { keySealedColumns } from './sealed-columns.ts'
