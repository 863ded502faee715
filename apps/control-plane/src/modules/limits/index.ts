/** Public interface of the limits module: what an organization and a user may use of the instance. */

export { createLimitsModule, type LimitsContext, type LimitsModule } from './create-limits-module.ts'
export {
  defaultLimits,
  generousLimits,
  type InstanceLimits,
  type LimitName,
  type Limits,
} from './organization-limits.ts'
export {
  fastQuotaCte,
  lockQuota,
  type Quota,
  type QuotaRefusal,
  quotaCte,
  quotaError,
  requireFastRunSlot,
  requireQuota,
} from './quota.ts'
export {
  requireRoomForEnvironment,
  requireRoomForOrganization,
  requireRoomForOwner,
  requireRoomForRepositories,
  requireRoomForTemplate,
  requireRoomForWorkspace,
} from './require-room.ts'
export { changeOrganizationLimits } from './routes/change-limits.ts'
export { readOrganizationLimits } from './routes/read-limits.ts'
export { setLimits } from './routes/set-limits.ts'
