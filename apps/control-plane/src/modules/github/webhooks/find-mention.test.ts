import { describe, expect, it } from 'vitest'
import { asksToStop, mentions } from './find-mention.ts'

const slug = 'dock-test'

describe('a mention', () => {
  it.each([
    '@dock-test please fix this',
    'Please, @Dock-Test, fix this.',
    'Could you fix it?\n\n@dock-test',
    '> somebody wrote\n\n@dock-test do it',
    '- [ ] @dock-test do it',
    '**@dock-test** do it',
    '`code` and @dock-test',
    '(@dock-test)',
    '1. one\n2. @dock-test do it',
    '```\ncode\n```\n@dock-test',
    'an unmatched ` and @dock-test',
    '# @dock-test',
    '<b>@dock-test</b>',
    '<code>x</code> @dock-test',
  ])('is found in %j', (text) => expect(mentions(text, slug)).toBe(true))

  it.each([
    'dock-test do it',
    '> @dock-test do it',
    '> quoted\n@dock-test continues the quote',
    '- > @dock-test',
    '`@dock-test`',
    '``a ` @dock-test``',
    '```\n@dock-test\n```',
    '~~~js\n@dock-test',
    '    @dock-test',
    'mail me@dock-test',
    '@dock-test-2 do it',
    '@dock-test/team',
    '@dock-test.example.com',
    'https://example.com/@dock-test',
    '[@dock-test](https://example.com)',
    '![@dock-test](https://example.com/x.png)',
    '<!-- @dock-test -->',
    '<code>@dock-test</code>',
    '<blockquote>\n\n@dock-test\n\n</blockquote>',
    '<pre>@dock-test</pre>',
    '~~@dock-test~~',
    '`a` ``b @dock-test``',
    '\\`x` @dock-test `y`',
    '- a\n\n      ```\n      @dock-test\n      ```',
    '~~please @dock-test do it~~',
    '[ask @dock-test now][1]',
  ])('is not found in %j', (text) => expect(mentions(text, slug)).toBe(false))

  it.each([
    '[*_`<',
    '`',
    '` ``',
    '[](',
    '<code',
    '<!--',
    '> ',
    '- ',
    '~~',
    '```\n',
    '\\`',
    ' ',
    '@dock-test-',
  ])('is looked for in 64 KiB of %j in time that grows with the length', (part) => {
    const secondsFor = (length: number): number => {
      const text = `${part.repeat(length / part.length)} @dock-test`
      const startedAt = performance.now()
      mentions(text, slug)
      return (performance.now() - startedAt) / 1000
    }
    // Generous, because the machine may be busy. A parser of Markdown needs half a minute.
    expect(secondsFor(65_536)).toBeLessThan(5)
  })
})

it('a stop is a mention with nothing else but stop', () => {
  for (const text of ['@dock-test stop', 'stop @dock-test', '@dock-test: Stop.'])
    expect(asksToStop(text, slug), text).toBe(true)
  for (const text of ['@dock-test stop the server when done', '@dock-test'])
    expect(asksToStop(text, slug), text).toBe(false)
})
