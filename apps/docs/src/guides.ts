/** The guides of docs/ in the order in which the site lists them. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export type Link = { title: string; url: string }
export type Group = { title: string; links: readonly Link[] }

const titleOf = (root: string, path: string): string =>
  (/^# (.*)$/m.exec(readFileSync(join(root, 'docs', path), 'utf8'))?.[1] ?? path).replaceAll('`', '')

const first = ['processes.md', 'files.md', 'ssh.md', 'webhooks.md']
const inside = ['architecture.md', 'glossary.md', 'how-dock-is-fast.md', 'map-of-moves.md']
const forOperators = ['settings.md']

/** Lists the guides below a folder of docs/, by name. */
export function linksIn(root: string, pattern: string): Link[] {
  return globSync(pattern, { cwd: join(root, 'docs') })
    .toSorted()
    .map((path) => ({ title: titleOf(root, path), url: `/docs/${path.replace(/\.md$/, '')}/` }))
}

/** Returns the groups of the menu. A new file of docs/ appears by itself. */
export function guideGroups(root: string): { guides: Group; operate: Group; contribute: Group } {
  const top = linksIn(root, '*.md')
  const isOneOf = (names: readonly string[]) => (link: Link) =>
    names.some((name) => link.url === `/docs/${name.replace(/\.md$/, '')}/`)
  const known = first.flatMap((name) => top.filter(isOneOf([name])))
  const others = top.filter((link) => !isOneOf([...first, ...inside, ...forOperators])(link))
  return {
    guides: { title: 'Guides', links: [...known, ...others] },
    operate: {
      title: 'Operate',
      links: [...top.filter(isOneOf(forOperators)), ...linksIn(root, 'operate/*.md')],
    },
    contribute: {
      title: 'Contribute',
      links: [
        ...top.filter(isOneOf(inside)),
        ...linksIn(root, 'recipes/*.md'),
        { title: 'Decisions', url: '/docs/decisions/' },
      ],
    },
  }
}
