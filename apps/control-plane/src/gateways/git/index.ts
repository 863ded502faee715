/** Public face of the git gateway. */
export { createGitDoor, type GitDoor, type ServeRun } from './git-door.ts'
export { createServeRunDoor, type ModelServers } from './serve-run-door.ts'
