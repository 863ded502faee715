/** Pipes that cannot all be made, for want of descriptors. */
import { runWithFewDescriptors } from '@dock/testkit/src/run-with-few-descriptors.ts'
import { expect, it } from 'vitest'

const moduleOf = (name: string): string => new URL(name, import.meta.url).pathname
const transport = `{ start: () => { throw new Error('started') } }`

it.each([
  [
    'a command',
    `const { runToEnd } = await import('${moduleOf('./run-to-end.ts')}')
    const attempt = () => runToEnd(${transport}, 'sandbox', {}, { input: 'x', outputLimitBytes: 10 }, new Promise(() => {}))`,
  ],
  [
    'an attached process',
    `const { ProcessStreams } = await import('${moduleOf('../pipes/process-streams.ts')}')
    const attempt = async () => new ProcessStreams({ isTerminal: false }).destroy()`,
  ],
])('%s leaves no descriptor open, however many were free', async (_, program) => {
  const outcome = await runWithFewDescriptors(`
    import { readdirSync } from 'node:fs'
    ${program}
    const open = () => readdirSync('/proc/self/fd').length
    const settled = () => new Promise((resolve) => setTimeout(resolve, 50))
    await attempt().catch(() => undefined)
    await settled()
    const before = open()
    const messages = new Set()
    for (let free = 0; free <= 6; free++) {
      openAll()
      for (let each = 0; each < free; each++) closeSync(opened.pop())
      await attempt().then(() => messages.add('made'), (error) => messages.add(error.message))
      closeAll()
      await settled()
      if (open() !== before) console.log(free, 'free:', open() - before, 'left open')
    }
    console.log(messages.size)`)
  expect(outcome).toEqual({ code: 0, printed: '2\n' })
})
