/** Public interface of the limits module: what an organization and a user may use of the instance. */

export { changeOrganizationLimits } from './change-limits.ts'
export { createLimitsModule } from './module.ts'
export { defaultLimits, generousLimits, type InstanceLimits, type Limits } from './organization-limits.ts'
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
export { readOrganizationLimits } from './read-limits.ts'
export {
  requireRoomForEnvironment,
  requireRoomForOrganization,
  requireRoomForOwner,
  requireRoomForRepositories,
  requireRoomForTemplate,
  requireRoomForWorkspace,
} from './require-room.ts'
export { setLimits } from './set-limits.ts'
