/** Public interface of the limits module: what an organization and a user may use of the instance. */
export { forgetStorage } from './limit-store.ts'
export { changeOrganizationLimits } from './operations/change-limits.ts'
export { readOrganizationLimits } from './operations/read-limits.ts'
export { setLimits } from './operations/set-limits.ts'
export {
  generousLimits,
  type InstanceLimits,
  type LimitName,
  type Limits,
  usualLimits,
} from './organization-limits.ts'
export { type Quota, type QuotaRefusal, quotaError, quotaPart } from './quota.ts'
export {
  requireRoomForEnvironment,
  requireRoomForOrganization,
  requireRoomForOwner,
  requireRoomForRepositories,
  requireRoomForTemplate,
} from './require-room.ts'
