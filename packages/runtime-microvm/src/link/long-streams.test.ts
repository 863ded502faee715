/** Streams of 1 GiB through the agent and the link: memory stays flat at both ends. */
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { GuestLink } from './guest-link.ts'
import { type BareAgent, startBareAgent } from './testing/bare-agent.ts'

const hasCompiler = spawnSync('gcc', ['--version']).status === 0 && process.getuid?.() === 0
const gibibyte = 2 ** 30
const mebibyte = 2 ** 20
const request = { env: { PATH: '/usr/bin:/bin' }, cwd: '/', uid: 0, gid: 0 }

describe.runIf(hasCompiler)('a stream of 1 GiB', () => {
  let agent: BareAgent
  let link: GuestLink
  beforeAll(async () => {
    agent = await startBareAgent()
    link = await agent.link()
  })
  afterAll(() => agent?.stop())

  /** The most that the agent ever had in memory. */
  const agentPeak = (): number => {
    const [child] = readFileSync(`/proc/${agent.pid}/task/${agent.pid}/children`, 'utf8').split(' ')
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child}/status`, 'utf8'))?.[1]) * 1024
  }
  /** Returns how far the memory of this process rises above its start while `run` runs. */
  const rise = async (run: () => Promise<void>): Promise<number> => {
    const before = process.memoryUsage.rss()
    let most = before
    const timer = setInterval(() => {
      most = Math.max(most, process.memoryUsage.rss())
    }, 20)
    await run()
    clearInterval(timer)
    return Math.max(most, process.memoryUsage.rss()) - before
  }

  it('comes out', async () => {
    const grown = await rise(async () => {
      const program = await link.open({ ...request, argv: ['head', '-c', String(gibibyte), '/dev/zero'] })
      let bytes = 0
      program.stdout.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      await once(program.stdout, 'end')
      expect(bytes).toBe(gibibyte)
      await program.close()
    })
    expect(grown).toBeLessThan(192 * mebibyte)
    expect(agentPeak()).toBeLessThan(16 * mebibyte)
  })

  it('goes in', async () => {
    const grown = await rise(async () => {
      const program = await link.open({ ...request, argv: ['wc', '-c'] })
      let count = ''
      program.stdout.on('data', (chunk: Buffer) => {
        count += chunk
      })
      const piece = Buffer.alloc(mebibyte)
      for (let sent = 0; sent < gibibyte; sent += piece.length)
        if (!program.stdin.write(piece)) await once(program.stdin, 'drain')
      program.stdin.end()
      await once(program.stdout, 'end')
      expect(count).toBe(`${gibibyte}\n`)
      await program.close()
    })
    expect(grown).toBeLessThan(192 * mebibyte)
    expect(agentPeak()).toBeLessThan(16 * mebibyte)
  })

  it('is not kept for a reader that is away', async () => {
    const grown = await rise(async () => {
      const programs = await Promise.all(
        Array.from({ length: 16 }, () => link.open({ ...request, argv: ['cat', '/dev/zero'] })),
      )
      await expect
        .poll(() => programs.every(({ stdout }) => stdout.received === 256 * 1024), { timeout: 60_000 })
        .toBe(true)
      for (let turn = 0; turn < 50; turn += 1) await link.ping()
      expect(programs.map(({ stdout }) => stdout.received)).toEqual(programs.map(() => 256 * 1024))
      for (const program of programs) {
        link.signal(program.id, 9, 'process')
        program.stdout.resume()
        await program.exited
        await program.close()
      }
    })
    expect(grown).toBeLessThan(192 * mebibyte)
    // 16 windows, and those that are kept for the next programs.
    expect(agentPeak()).toBeLessThan(16 * mebibyte)
  })
})
