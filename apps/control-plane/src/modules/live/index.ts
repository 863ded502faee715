/** Public interface of the live module: the stream that keeps open pages up to date. */
export { createLiveModule, type LiveModule } from './module.ts'
export { type LiveContext, readLive } from './read-live.ts'
