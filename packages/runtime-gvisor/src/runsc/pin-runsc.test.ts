/** Tests script/pin-runsc in a folder with a stand-in for the conformance suite. The script demands root. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { type ReleaseServer, sha512, startReleaseServer } from '@dock/testkit/src/runtime/release-server.ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const script = resolve(import.meta.dirname, '../../../../script')
const version = '20261012.0'
const program = `#!/bin/sh\necho runsc version release-${version}\n`
const comment = '# A comment.\n'

describe.runIf(process.getuid?.() === 0)('script/pin-runsc', () => {
  let folder: string
  let releases: ReleaseServer
  let published: string
  const write = (path: string, content: string): void =>
    writeFileSync(join(folder, path), content, { mode: 0o755 })
  /** The suite passes or fails, and prints what it was given. */
  const suite = (code: number): void =>
    write(
      'path/npx',
      `#!/bin/sh\necho "$@" $DOCK_TEST_ROOTFS >&2; "$DOCK_TEST_RUNSC" --version >&2; exit ${code}\n`,
    )

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'dock-pin-'))
    for (const name of ['path', 'script/install']) mkdirSync(join(folder, name), { recursive: true })
    for (const name of ['pin-runsc', 'install/runsc-release'])
      cpSync(join(script, name), join(folder, 'script', name))
    for (const name of ['bootstrap', 'use-node', 'install/test-fixtures'])
      write(`script/${name}`, '#!/bin/sh\n')
    write('path/tini', '#!/bin/sh\nshift 2\nexec "$@"\n')
    write('script/install/runsc.pin', `${comment}20250101.0 ${'0'.repeat(128)}\n`)
    suite(0)
    published = sha512(program)
    releases = await startReleaseServer((request, response) => {
      if (!request.url!.startsWith(`/${version}/x86_64/`)) return void response.writeHead(404).end()
      response.end(request.url!.endsWith('.sha512') ? `${published}  runsc\n` : program)
    })
  })
  afterEach(async () => {
    await releases.close()
    rmSync(folder, { recursive: true })
  })

  const pin = async (of = version): Promise<{ code: number; said: string; pinned: string }> => {
    const child = spawn(join(folder, 'script/pin-runsc'), [of], {
      env: {
        PATH: `${join(folder, 'path')}:/usr/bin:/bin`,
        DOCK_TEST_RUNSC_RELEASES: releases.address,
        DOCK_TEST_CACHE: '/cache',
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
    return { code, said, pinned: readFileSync(join(folder, 'script/install/runsc.pin'), 'utf8') }
  }
  const unchanged = expect.stringContaining('20250101.0')

  test('writes version and hash of a release that passes the conformance suite', async () => {
    const { code, said, pinned } = await pin()
    expect([code, pinned]).toEqual([0, `${comment}${version} ${sha512(program)}\n`])
    expect(said).toMatch(
      /--project own-process \S+create-gvisor-driver\.test\.ts \/cache\/rootfs\nrunsc version/,
    )
  })

  test('keeps the pin if the suite fails', async () => {
    suite(1)
    expect(await pin()).toMatchObject({
      code: 1,
      said: expect.stringContaining('fails the conformance suite'),
      pinned: unchanged,
    })
  })

  test('keeps the pin if the program has another hash than the published one', async () => {
    published = sha512('another')
    expect(await pin()).toMatchObject({
      code: 1,
      said: expect.stringContaining('does not have the SHA-512'),
      pinned: unchanged,
    })
  })

  test('keeps the pin if there is no such release, or the version is none', async () => {
    expect(await pin('20261013.0')).toMatchObject({ code: 1, pinned: unchanged })
    const { length } = releases.asked
    expect(await pin('latest')).toMatchObject({ code: 2, pinned: unchanged })
    expect(releases.asked).toHaveLength(length)
  })
})
