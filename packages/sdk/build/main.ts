/** Builds the package into packages/sdk/dist. Run by script/build-sdk. */
import { buildSdk } from './build-sdk.ts'

await buildSdk(new URL('../dist', import.meta.url).pathname)
