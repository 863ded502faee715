/** The Python SDK: its own tests, its types, and its generated files. */
import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openApiDocument } from '@dock/contract'
import { afterAll, it } from 'vitest'

const run = promisify(execFile)
const sdk = new URL('../../sdks/python', import.meta.url).pathname
const home = mkdtempSync(join(tmpdir(), 'dock-python-'))
afterAll(() => rmSync(home, { recursive: true }))

/** Debian's Python, with nothing of the environment of this test. */
const options = {
  cwd: sdk,
  env: { PATH: '/usr/bin:/bin', HOME: home, LANG: 'C.UTF-8', PYTHONDONTWRITEBYTECODE: '1' },
}

/** Runs a program of Python. Its output is the message of the failure. */
const python = async (...args: string[]): Promise<void> => {
  await run('/usr/bin/python3', args, options).catch(({ stdout, stderr }) => {
    throw new Error(`${stdout}${stderr}`)
  })
}

it('has files that are generated from the contract and up to date', () => {
  const input = JSON.stringify(openApiDocument())
  execFileSync('/usr/bin/python3', ['generate/api.py', '--check'], { ...options, input })
  execFileSync('/usr/bin/python3', ['generate/sync.py', '--check'], options)
})

const patience = { timeout: 300_000 }

it('passes its own tests', patience, () => python('-m', 'pytest', '-q', '-p', 'no:cacheprovider'))

/** Kept, so that the next run checks only what has changed. */
const typesOfLastRun = new URL('../../.tools/test/mypy', import.meta.url).pathname

it('has types that mypy --strict accepts', patience, () =>
  python('-m', 'mypy', '--cache-dir', typesOfLastRun),
)
