export { findPostgresBinaries, oldestMajor } from './find-binaries.ts'
export { type PostgresOptions, type RunningPostgres, startPostgres } from './start-postgres.ts'
