/**
 * Public interface of the keys module: API keys, Dock keys, SSH keys, model provider keys, and the connection to the
 * hosted assistant.
 */
export { insertApiKey } from './api-key-store.ts'
export type { AuthenticateApiKey } from './authenticate-api-key.ts'
export { createKeysModule, type KeysModule } from './create-keys-module.ts'
export { createDeviceCode } from './device-codes/create-device-code.ts'
export type { DeviceApproval, MachineSignIn } from './device-codes/device-approval.ts'
export { redeemDeviceCode } from './device-codes/redeem-device-code.ts'
export type { DeviceFlowSettings } from './device-flow.ts'
export { deleteDockKeysSql, issueDockKey, listLiveDockKeyIds, revokeDockKeys } from './dock-keys.ts'
export { dropKeys } from './drop-keys.ts'
export type { KeysContext } from './keys-context.ts'
export { maskApiKeys } from './raw-api-key.ts'
export { addSshKey } from './routes/add-ssh-key.ts'
export { deleteAssistantConnection, readAssistantConnection } from './routes/assistant-connection.ts'
export { createApiKey } from './routes/create-api-key.ts'
export { createSshKeyChallenge } from './routes/create-ssh-key-challenge.ts'
export { deleteSshKey } from './routes/delete-ssh-key.ts'
export { listApiKeys } from './routes/list-api-keys.ts'
export { listSshKeyProofs } from './routes/list-ssh-key-proofs.ts'
export { listSshKeys } from './routes/list-ssh-keys.ts'
export { pollDeviceSignIn } from './routes/poll-device-sign-in.ts'
export { proveSshKey } from './routes/prove-ssh-key.ts'
export {
  deleteProviderKey,
  listProviderKeys,
  openProviderKeys,
  revealProviderKey,
  setProviderKey,
} from './routes/provider-keys.ts'
export { revokeApiKey } from './routes/revoke-api-key.ts'
export { startDeviceSignIn } from './routes/start-device-sign-in.ts'
export { keySealedColumns } from './sealed-columns.ts'
export { ensureSshHostKeys, rotateSshHostKeys, type SshHostKey } from './ssh-host-keys.ts'
export { createSshKeyAccess, type SshKeyAccess, type SshKeyHolder } from './ssh-key-access.ts'
export { fingerprintOfBytes, isUsualRsaKey } from './ssh-public-key.ts'
