/** The dependencies of this module's operations. Created once when the server starts. */
import type { Clock } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import type { OperationRunner } from '../../engine/index.ts'
import type { RateLimits } from '../../rate-limits/rate-limits.ts'
import type { HostGateway } from '../hosts/index.ts'
import type { Copies } from '../storage/index.ts'
import type { ListPace } from './list-pace.ts'
import type { OpenReadings } from './open-readings.ts'

export type SnapshotContext = {
  db: Db
  clock: Clock
  gateway: Pick<HostGateway, 'readCaptureFile' | 'listCaptureFolder' | 'compareCaptures'>
  runner: OperationRunner
  rateLimits: RateLimits
  captureHost: Copies['captureHost']
  listFiles: Copies['listFiles']
  ensureCapture: Copies['ensureCapture']
  readings: OpenReadings
  listPace: ListPace
}
