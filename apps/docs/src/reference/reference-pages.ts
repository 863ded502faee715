/** The pages of the API reference, made from the OpenAPI document. */
import { errorCodes, openApiDocument } from '@dock/contract'
import type { Group } from '../guides.ts'
import { Html, html } from '../html.ts'
import { createMarkdown, highlight } from '../markdown.ts'
import { objectPage, operationPage } from './operation-page.ts'

const slug = (tag: string): string => tag.toLowerCase().replaceAll(' ', '-')

const markdown = createMarkdown()

const errorPage = (): Html => html`<h1>Error codes</h1>
<p>A request that fails returns <code>{"ok": false, "code", "message"}</code>. Codes are stable: check the code, not the message.</p>
<div class="table" tabindex="0"><table class="errors"><thead><tr><th>Code</th><th>Status</th><th>Meaning</th></tr></thead><tbody>${Object.entries(
  errorCodes,
).map(
  ([code, { status, message }]) =>
    html`<tr id="${code}"><td><code>${code}</code></td><td>${status}</td><td>${message}</td></tr>`,
)}</tbody></table></div>`

const overview = (links: Group['links']): Html => html`<h1>API reference</h1>
<p>Every request goes to the address of your instance. Requests and responses are JSON, except where bytes are named. A success is <code>{"ok": true, "data"}</code>, a failure <code>{"ok": false, "code", "message"}</code>.</p>
<p>Send an API key as <code>Authorization: Bearer dock_…</code>. Browsers that signed in send their session instead. The document for generators is <a href="/openapi.json">/openapi.json</a>.</p>
<p>Routes that the specification does not have are marked as extensions.</p>
<ul>${links.map(({ title, url }) => html`<li><a href="${url}">${title}</a></li>`)}</ul>`

/** Returns the group of the menu, and each page by its path below docs/. */
export function referencePages(): { group: Group; pages: ReadonlyMap<string, string> } {
  const document = openApiDocument()
  const tools = {
    document,
    highlight,
    inline: (text: string) => new Html(markdown.renderInline(text)),
  }
  const group = {
    title: 'API reference',
    links: [
      { title: 'Overview', url: '/docs/reference/' },
      ...document.tags.map(({ name }) => ({ title: name, url: `/docs/reference/${slug(name)}/` })),
      { title: 'Objects', url: '/docs/reference/objects/' },
      { title: 'Error codes', url: '/docs/reference/errors/' },
    ],
  }
  const pages = new Map<string, string>([
    ['reference/index.html', overview(group.links.slice(1)).text],
    ...document.tags.map((tag): [string, string] => [
      `reference/${slug(tag.name)}.html`,
      operationPage(tag, tools).text,
    ]),
    ['reference/objects.html', objectPage(tools).text],
    ['reference/errors.html', errorPage().text],
  ])
  return { group, pages }
}
