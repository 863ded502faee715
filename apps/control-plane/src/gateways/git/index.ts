/** Public face of the git gateway. */
export { createGitDoor, type GitDoor } from './git-door.ts'
