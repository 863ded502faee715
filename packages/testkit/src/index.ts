export { addPerson, type TestPerson } from './add-person.ts'
export { type ControlPlaneWithHost, controlPlaneWithHost } from './control-plane-with-host.ts'
export { createEmptyDatabase, dropDatabase, type FreshDatabase, freshDatabase } from './fresh-database.ts'
export { type HostileHost, joinHostileHost } from './hostile-host.ts'
export { type SwiftServer, startSwift } from './swift-server.ts'
export {
  type Answer,
  type TestControlPlane,
  type TestControlPlaneOptions,
  testControlPlane,
} from './test-control-plane.ts'
export { whileLocked } from './while-locked.ts'
