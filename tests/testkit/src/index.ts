export { addPerson, type TestPerson } from './add-person.ts'
export { type ControlPlaneWithHost, startControlPlaneWithHost } from './control-plane-with-host.ts'
export { createFakeReceivers, type Delivered, type FakeReceivers } from './fake-receivers.ts'
export {
  createEmptyDatabase,
  createFreshDatabase,
  dropDatabase,
  type FreshDatabase,
} from './fresh-database.ts'
export {
  connectWebhooks,
  linkAtGithub,
  outcomeOf,
  type RecordedRuns,
  recordRuns,
} from './github/linked-github.ts'
export { type Github, startGithub } from './github/start-github.ts'
export { type HostileHost, joinHostileHost } from './hostile-host.ts'
export { type LiveEvent, type LiveStream, openLiveStream } from './live-stream.ts'
export { openChromium } from './open-chromium.ts'
export { type Recorded, recordedDuring } from './recorded-during.ts'
export { type SwiftServer, startSwift } from './swift-server.ts'
export {
  type Answer,
  startTestControlPlane,
  type TestControlPlane,
  type TestControlPlaneOptions,
} from './test-control-plane.ts'
export { whileLocked } from './while-locked.ts'
