import { expect, test } from 'vitest'
import { addressOf, anchorOf, createMarkdown } from './markdown.ts'

const render = (text: string, inputPath = './docs/operate/ssh.md') =>
  createMarkdown().render(text, { page: { inputPath } })

test('links lead to pages of the site, and files that it does not have are no links', () => {
  expect(addressOf('operate/ssh.md', '../ssh.md#keys')).toBe('/docs/ssh/#keys')
  expect(addressOf('architecture.md', 'decisions/')).toBe('/docs/decisions/')
  expect(addressOf('architecture.md', 'decisions/README.md')).toBe('/docs/decisions/')
  expect(addressOf('architecture.md', 'decisions')).toBe('/docs/decisions/')
  expect(addressOf('ssh.md', 'https://example.com/x.md')).toBe('https://example.com/x.md')
  expect(addressOf('ssh.md', '#keys')).toBe('#keys')
  expect(addressOf('architecture.md', '../apps/cli/src/main.ts')).toBeNull()
  expect(addressOf('architecture.md', '../README.md')).toBeNull()
  expect(render('[code](../../apps/x.ts) and [keys](keys.md)')).toBe(
    '<p><a class="source">code</a> and <a href="/docs/operate/keys/">keys</a></p>\n',
  )
})

test('headings have the anchors of GitHub, each once', () => {
  expect(anchorOf('What `a` receiver gets, and when?')).toBe('what-a-receiver-gets-and-when')
  expect(render('## Same\n\n## Same\n')).toContain('<h2 id="same-1">')
})

test('code is highlighted by classes, and HTML in a guide stays text', () => {
  const text = render('```sh\necho "$A"\n```\n\n<b onclick="x()">bold</b>\n')
  expect(text).toContain('hljs-')
  expect(text).not.toMatch(/style=|<b/)
})

test('a diagram is shown as its source with a caption, and short inline code does not break', () => {
  expect(render('```mermaid\nflowchart TD\n```')).toMatch(/^<figure><pre.*flowchart TD.*<figcaption>/s)
  expect(render('`--json`')).toBe('<p><code>--json</code></p>\n')
  expect(render(`\`${'x'.repeat(40)}\``)).toContain('class="long"')
})
