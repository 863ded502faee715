/** Public face of API keys. */
export { insertApiKey } from './api-key-store.ts'
export { type AuthenticateApiKey, createApiKeyAuthentication } from './authenticate-api-key.ts'
export { createApiKey, type KeysContext } from './operations/create-api-key.ts'
export { listApiKeys } from './operations/list-api-keys.ts'
export { revokeApiKey } from './operations/revoke-api-key.ts'
