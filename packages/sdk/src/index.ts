export type * from '@dock/contract'
export { type CallOptions, type CallResult, type Client, type ClientOptions, createClient } from './client.ts'
export { DockApiError } from './dock-api-error.ts'
