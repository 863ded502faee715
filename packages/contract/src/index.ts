export * from './access.ts'
export * from './app-paths.ts'
export * from './audit-actions.ts'
export * from './byte-name.ts'
export * from './dock-state.ts'
export * from './dock-stop.ts'
export * from './dock-words.ts'
export { type ErrorCode, errorCodes, ServiceError } from './errors.ts'
export * from './events.ts'
export {
  avatarUrl,
  byteLength,
  environmentName,
  idempotencyKey,
  isPlainText,
  type RuntimeName,
  runtimeName,
  slug,
  templateName,
  timestamp,
  uuid,
} from './fields.ts'
export * from './limits.ts'
export * from './objects/account.ts'
export * from './objects/audit.ts'
export * from './objects/billing.ts'
export * from './objects/dashboard.ts'
export * from './objects/device-codes.ts'
export * from './objects/docks.ts'
export * from './objects/environments.ts'
export * from './objects/files.ts'
export * from './objects/github.ts'
export * from './objects/hosts.ts'
export * from './objects/keys.ts'
export * from './objects/limits.ts'
export * from './objects/live.ts'
export * from './objects/operations.ts'
export * from './objects/operator.ts'
export * from './objects/organizations.ts'
export * from './objects/processes.ts'
export * from './objects/runs.ts'
export * from './objects/snapshots.ts'
export * from './objects/templates.ts'
export * from './objects/webhooks.ts'
export { errorCodesByStatus } from './openapi/error-codes.ts'
export { type OpenApiDocument, type OpenApiOptions, openApiDocument, openApiPath } from './openapi.ts'
export type {
  Method,
  ResponseKind,
  Route,
  RouteBody,
  RouteParams,
  RouteQuery,
  RouteResponse,
} from './route.ts'
export { route } from './route.ts'
export { eraseConfirmation, retentionConfirmation } from './routes/account.ts'
export { contactTopics } from './routes/instance.ts'
export { type RouteName, type Routes, routes } from './routes.ts'
export * from './run-state.ts'
export * from './secret-file-path.ts'
export {
  isReservedVariableName,
  reservedVariableNames,
  reservedVariablePrefix,
  variableName,
  variablesBytes,
  variableValue,
} from './variables.ts'
