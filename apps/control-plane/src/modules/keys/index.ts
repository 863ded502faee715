/**
 * Public interface of the keys module: API keys, Dock keys, SSH keys, model provider keys, and the connection to the
 * hosted assistant.
 */
export { insertApiKey } from './api-keys/api-key-store.ts'
export type { AuthenticateApiKey } from './api-keys/authenticate-api-key.ts'
export { createApiKey } from './api-keys/create-api-key.ts'
export { deleteDockKeysSql, issueDockKey, listLiveDockKeyIds, revokeDockKeys } from './api-keys/dock-keys.ts'
export { listApiKeys } from './api-keys/list-api-keys.ts'
export { maskApiKeys } from './api-keys/raw-api-key.ts'
export { revokeApiKey } from './api-keys/revoke-api-key.ts'
export { deleteAssistantConnection, readAssistantConnection } from './assistant/assistant-connection.ts'
export type { DeviceFlowSettings } from './assistant/device-flow.ts'
export { pollDeviceSignIn } from './assistant/poll-device-sign-in.ts'
export { startDeviceSignIn } from './assistant/start-device-sign-in.ts'
export { createDeviceCode } from './device-codes/create-device-code.ts'
export type { DeviceApproval, MachineSignIn } from './device-codes/device-approval.ts'
export { redeemDeviceCode } from './device-codes/redeem-device-code.ts'
export { dropKeys } from './drop-keys.ts'
export type { KeysContext } from './keys-context.ts'
export { createKeysModule, type KeysModule } from './module.ts'
export {
  deleteProviderKey,
  listProviderKeys,
  openProviderKeys,
  revealProviderKey,
  setProviderKey,
} from './provider-keys/provider-keys.ts'
export { keySealedColumns } from './sealed-columns.ts'
export { addSshKey } from './ssh-keys/add-ssh-key.ts'
export { createSshKeyChallenge } from './ssh-keys/create-ssh-key-challenge.ts'
export { deleteSshKey } from './ssh-keys/delete-ssh-key.ts'
export { listSshKeyProofs } from './ssh-keys/list-ssh-key-proofs.ts'
export { listSshKeys } from './ssh-keys/list-ssh-keys.ts'
export { proveSshKey } from './ssh-keys/prove-ssh-key.ts'
export { ensureSshHostKeys, rotateSshHostKeys, type SshHostKey } from './ssh-keys/ssh-host-keys.ts'
export { createSshKeyAccess, type SshKeyAccess, type SshKeyHolder } from './ssh-keys/ssh-key-access.ts'
