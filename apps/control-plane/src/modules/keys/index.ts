/**
 * Public interface of the keys module: API keys, Dock keys, SSH keys, model provider keys, and the connection to the
 * hosted assistant.
 */
export { insertApiKey } from './api-keys/api-key-store.ts'
export type { AuthenticateApiKey } from './api-keys/authenticate-api-key.ts'
export { deleteDockKeysSql, issueDockKey, listLiveDockKeyIds, revokeDockKeys } from './api-keys/dock-keys.ts'
export { maskApiKeys } from './api-keys/raw-api-key.ts'
export type { DeviceFlowSettings } from './assistant/device-flow.ts'
export type { DeviceApproval, MachineSignIn } from './device-codes/device-approval.ts'
export { dropKeys } from './drop-keys.ts'
export { createKeysModule } from './module.ts'
export { openProviderKeys } from './provider-keys/provider-keys.ts'
export { keySealedColumns } from './sealed-columns.ts'
export { rotateSshHostKeys, type SshHostKey } from './ssh-keys/ssh-host-keys.ts'
export type { SshKeyAccess, SshKeyHolder } from './ssh-keys/ssh-key-access.ts'
