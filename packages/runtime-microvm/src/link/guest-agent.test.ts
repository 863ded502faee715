/** The agent's own parser under mutated frames, with the sanitizers of gcc, where that compiler is. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const agent = join(import.meta.dirname, '../../agent')
const hasCompiler = spawnSync('gcc', ['--version']).status === 0
/** What the harness replaces is missing: it must start no program and change no machine. */
const sources = ['link', 'channel', 'stream', 'handle', 'request', 'identity', 'calls'].map(
  (name) => `${name}.c`,
)
const inPlace = ['-Dsync=fuzz_sync', '-Dsethostname=fuzz_set_name']
const sanitizers = ['-fsanitize=address,undefined', '-fno-sanitize-recover=all', '-fno-omit-frame-pointer']

describe.runIf(hasCompiler)('the agent', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dock-agent-fuzz-'))
  const program = join(folder, 'fuzz')
  beforeAll(() => {
    const files = [...sources, 'test/fuzz.c']
    execFileSync(
      'gcc',
      ['-O1', '-g', '-w', '-std=gnu11', ...sanitizers, ...inPlace, '-o', program, ...files],
      { cwd: agent },
    )
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it.each([1, 2, 3, 4])('stays within its buffers under 25,000 mutated frames of seed %i', (seed) => {
    const { status, stdout, stderr } = spawnSync(program, [String(seed), '25000'], { encoding: 'utf8' })
    expect([status, stderr]).toEqual([0, ''])
    const programs = Number(/^25000 frames, (\d+) programs$/m.exec(stdout)?.[1])
    // The frames reach what they should test.
    expect(programs).toBeGreaterThan(100)
  })
})
