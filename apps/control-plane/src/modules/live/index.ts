/** Public interface of the live module: the stream that keeps open pages up to date. */
export { createLiveModule } from './module.ts'
