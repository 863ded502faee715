/** Public interface of the closure module, which closes, reopens and erases accounts. */

export { createClosureModule } from './module.ts'
