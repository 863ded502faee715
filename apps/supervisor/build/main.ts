/** `main.ts FOLDER` writes the bundles of this checkout's programs. See script/install/compile. */
import { realpathSync } from 'node:fs'
import { bundlePrograms } from './bundle-programs.ts'

const [, , folder = ''] = process.argv
await bundlePrograms(realpathSync(new URL('../../..', import.meta.url)), folder)
