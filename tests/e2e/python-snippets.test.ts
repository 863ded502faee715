/** Every piece of Python in the documents runs, against a real server. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { runProgram } from '../clients/program.ts'
import { freshName, useServer } from './support/use-server.ts'

const { admin } = useServer()

const documents = ['sdks/python/README.md', 'docs/python.md', 'docs/sdk.md']

it.each(documents)('runs the Python of %s', async (document) => {
  const home = await mkdtemp(join(tmpdir(), 'dock-snippets-'))
  onTestFinished(() => rm(home, { recursive: true }))
  const place = { ...admin, home, name: freshName('snippets'), scenario: '', upload: '', download: '' }
  const ran = await runProgram(place, '/usr/bin/python3', ['tests/clients/python-snippets.py', document])
  expect(ran).toBe('every block ran')
})
