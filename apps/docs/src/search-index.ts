/** The index of the site's search: one entry for each section of each page. */
import MiniSearch from 'minisearch'
import type { Page } from './layout.ts'

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** Tags inside a word are removed; every other tag separates words. */
const textOf = (markup: string): string =>
  markup
    .replaceAll(/<pre[\s>].*?<\/pre>/gs, (block) => ` ${block.replaceAll(/<[^>]+>/g, '')} `)
    .replaceAll(/<wbr>|<\/?(?:code|strong|em|a)\b[^>]*>/g, '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name] ?? '')
    .replaceAll(/\s+/g, ' ')
    .trim()

/** `anchor` is the name of a route or object, or the heading. */
type Section = { url: string; heading: string; anchor: string; text: string }

const sectionsOf = ({ url, title, content }: Page): Section[] =>
  content.split(/(?=<h[12][ >])/).flatMap((part) => {
    const [whole, attributes = '', heading = ''] = /^<h[12]([^>]*)>(.*?)<\/h[12]>/s.exec(part) ?? []
    if (whole === undefined) return []
    const id = /id="([^"]*)"/.exec(attributes)?.[1]
    const isTop = whole.startsWith('<h1')
    return [
      {
        url: isTop || id === undefined ? url : `${url}#${id}`,
        heading: isTop ? title : textOf(heading),
        anchor: id ?? '',
        text: textOf(part.slice(whole.length)),
      },
    ]
  })

/** The options that the page's script must use too. */
export const searchOptions = {
  fields: ['heading', 'title', 'anchor', 'text'],
  storeFields: ['heading', 'title', 'url', 'start'],
}

/** Returns the index as JSON. */
export function searchIndex(pages: readonly Page[]): string {
  const index = new MiniSearch(searchOptions)
  let id = 0
  for (const page of pages)
    for (const section of sectionsOf(page))
      index.add({ id: id++, title: page.title, start: section.text.slice(0, 110), ...section })
  return JSON.stringify(index)
}
