/** The TypeScript SDK with a real Dock. `script/prove sdk` does the same in Node 20, Deno and Bun. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { nothingLost, runThroughCuts } from '../clients/broken-connections.ts'
import { useServer } from './support/use-server.ts'

const { admin } = useServer()

it('loses no byte of output or input, and repeats none, when connections break', async () => {
  const home = await mkdtemp(join(tmpdir(), 'dock-sdk-'))
  onTestFinished(() => rm(home, { recursive: true }))
  const { result, cuts } = await runThroughCuts({ ...admin, home }, [process.execPath])
  expect(result).toEqual(nothingLost)
  expect(cuts).toBeGreaterThan(5)
})
