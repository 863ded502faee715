/**
 * script/prove slow-calls [share, 0.1] [milliseconds, 30] [file …]: runs the quick tests while that share of all calls of
 * files, of the database, and of the fake runtime and disk pool takes up to so many milliseconds longer. It finds tests
 * that rely on the order in which steps end by chance. A test that makes thousands of calls one after another may reach
 * its timeout.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const root = join(import.meta.dirname, '../..')
const delayCalls = pathToFileURL(join(import.meta.dirname, 'slow-calls/delay-calls.ts')).href
const [share = '0.1', longestMs = '30', ...files] = process.argv.slice(2)
const projects = ['unit', 'own-process', 'control-plane', 'api', 'model'].map((name) => `--project=${name}`)

const { status } = spawnSync(
  process.execPath,
  [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...projects, ...files],
  {
    cwd: root,
    env: {
      ...process.env,
      NODE_OPTIONS: `--import ${delayCalls}`,
      DELAYED_SHARE: share,
      DELAYED_MS_MAX: longestMs,
    },
    stdio: 'inherit',
  },
)
process.exit(status ?? 1)
