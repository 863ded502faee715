/** The frame of every page. */
import type { Group } from './guides.ts'
import { Html, html } from './html.ts'

export type Assets = { style: string; script: string; search: string }

export type Page = { url: string; title: string; content: string }

/** Returns the whole page with its menu. The page's own link is marked. */
export function layout(page: Page, groups: readonly Group[], assets: Assets): string {
  const link = ({ title, url }: { title: string; url: string }): Html =>
    html`<li><a href="${url}"${url === page.url ? new Html(' aria-current="page"') : ''}>${title}</a></li>`
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.title === 'Dock' ? 'Dock documentation' : `${page.title} · Dock`}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assets.style}">
<script type="module" src="${assets.script}" data-search="${assets.search}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="brand" href="/docs/">Dock</a>
<form role="search" action="/docs/">
<input type="search" id="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off" spellcheck="false" aria-controls="results">
<kbd aria-hidden="true">/</kbd>
<div id="results" hidden></div>
</form>
<button id="menu" type="button" aria-expanded="false" aria-controls="navigation">Menu</button>
</header>
<div class="columns">
<nav id="navigation" aria-label="Pages">${groups.map(
    ({ title, links }) => html`
<h2>${title}</h2>
<ul>${links.map(link)}</ul>`,
  )}
</nav>
<main id="content">
${new Html(page.content)}
</main>
</div>
</body>
</html>
`.text
}
