export * from './link/index.ts'
