/** Public interface of the limits module: what an organization and a user may use of the instance. */

export { createLimitsModule, type LimitsContext, type LimitsModule } from './create-limits-module.ts'
export { changeOrganizationLimits } from './operations/change-limits.ts'
export { readOrganizationLimits } from './operations/read-limits.ts'
export { setLimits } from './operations/set-limits.ts'
export {
  defaultLimits,
  generousLimits,
  type InstanceLimits,
  type LimitName,
  type Limits,
} from './organization-limits.ts'
export { type Quota, type QuotaRefusal, quotaCte, quotaError } from './quota.ts'
export {
  requireRoomForEnvironment,
  requireRoomForOrganization,
  requireRoomForOwner,
  requireRoomForRepositories,
  requireRoomForTemplate,
} from './require-room.ts'
