/** On the agent without a machine. tests/microvm-hostile/broken-links.test.ts does the same on an emulated one. */
import { spawnSync } from 'node:child_process'
import { describe } from 'vitest'
import { type BareAgent, startBareAgent } from '../link/testing/bare-agent.ts'
import { describeBrokenLinks } from './testing/describe-broken-links.ts'

/** The agent is compiled with gcc here, and its namespaces need root. */
const hasCompiler = spawnSync('gcc', ['--version']).status === 0 && process.getuid?.() === 0

describe.runIf(hasCompiler)('the connections to a guest', () => {
  let agent: BareAgent
  describeBrokenLinks({
    bytes: 24 * 2 ** 20,
    start: async () => {
      agent = await startBareAgent()
      ;(await agent.link()).end()
      return { id: 'bare', dial: (port) => agent.connect(port) }
    },
    end: () => agent.stop(),
  })
})
