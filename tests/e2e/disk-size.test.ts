/** A Dock's disk has its full size: deleted files free space, and a write that does not fit fails inside the Dock. */
import type { Dock } from '@dock/contract'
import { expect, it } from 'vitest'
import { createDock, deleteDock, exec, run } from './support/dock.ts'
import { freshName, useServer } from './support/use-server.ts'

const server = useServer()
const gibibyteDock = (): Promise<Dock> => createDock(server, { diskGiB: 1 })
/**
 * Writes in large pieces, because each write costs a sandbox about 0.1 ms. No two pieces are equal, but only one is random:
 * a sandbox takes seconds for 800 MB of random bytes.
 */
const write = (name: string, megabytes: number): string => `python3 -c '
import os
piece = bytearray(os.urandom(1_000_000))
with open("${name}", "wb") as file:
    for number in range(${megabytes}):
        piece[:4] = number.to_bytes(4)
        file.write(piece)'`

it('a Dock of 1 GiB writes 800 MB, stops, resumes, deletes them, and writes 800 MB again', async () => {
  const { id } = await gibibyteDock()
  await run(server, id, write('data', 800))
  await server.client.call('stopDock', { params: { id }, body: {} })
  await server.client.call('resumeDock', { params: { id }, body: {} })
  const sum = await run(server, id, `rm data && ${write('again', 800)} && sync && sha256sum again`)
  await server.client.call('stopDock', { params: { id }, body: {} })
  await server.client.call('resumeDock', { params: { id }, body: {} })
  expect(await run(server, id, 'sha256sum again')).toBe(sum)
  await deleteDock(server, id)
})

it('a branch of a Dock with 800 MB cannot write 400 MB more, but can write less; its source is unaffected', async () => {
  const source = await gibibyteDock()
  const sum = await run(server, source.id, `${write('data', 800)} && sync && sha256sum data`)
  const params = { id: source.id }
  const branch = await server.client.call('branchDock', { params, body: { name: freshName('full') } })
  const refused = await exec(server, branch.id, write('more', 400))
  expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining('No space left on device')])
  expect(await run(server, branch.id, 'rm more && echo small > file && cat file && sha256sum data')).toBe(
    `small\n${sum}`,
  )
  expect(await run(server, source.id, 'echo own > file && cat file && sha256sum data')).toBe(`own\n${sum}`)
  for (const { id } of [branch, source]) await deleteDock(server, id)
})
