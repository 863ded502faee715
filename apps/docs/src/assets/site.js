/** The menu and the search of the site. It runs in browsers, under a policy that allows no HTML from text. */
import MiniSearch from 'minisearch'

const menu = document.querySelector('#menu')
const navigation = document.querySelector('#navigation')
menu.addEventListener('click', () => {
  menu.setAttribute('aria-expanded', String(navigation.classList.toggle('open')))
})
const current = navigation.querySelector('[aria-current]')
if (current) navigation.scrollTop = current.offsetTop - navigation.clientHeight / 2

const input = document.querySelector('#search')
const results = document.querySelector('#results')
const script = document.querySelector('script[data-search]')
const fields = ['heading', 'title', 'anchor', 'text']
const storeFields = ['heading', 'title', 'url', 'start']
let index

/** Loads the index when somebody first wants to search. */
const load = () => {
  index ??= fetch(script.dataset.search)
    .then((response) => (response.ok ? response.text() : Promise.reject(new Error(response.statusText))))
    .then((text) => MiniSearch.loadJSON(text, { fields, storeFields }))
    .catch((error) => {
      index = undefined
      throw error
    })
  return index
}

const element = (name, text) => Object.assign(document.createElement(name), { textContent: text })

const show = (...children) => {
  results.replaceChildren(...children)
  results.hidden = children.length === 0
}

const resultOf = ({ heading, title, url, start }) => {
  const link = element('a', '')
  link.href = url
  link.append(element('strong', heading), element('small', heading === title ? start : `${title} — ${start}`))
  return link
}

const search = async () => {
  const words = input.value.trim()
  if (words === '') return show()
  try {
    const found = (await load()).search(words, {
      boost: { anchor: 8, heading: 4, title: 2 },
      prefix: true,
      fuzzy: 0.15,
      combineWith: 'AND',
    })
    if (input.value.trim() !== words) return
    show(...(found.length > 0 ? found.slice(0, 12).map(resultOf) : [element('p', 'Nothing was found.')]))
  } catch {
    show(element('p', 'The search could not be loaded. Try again.'))
  }
}

input.addEventListener('focus', () => load().catch(() => {}))
input.addEventListener('input', search)
input.form.addEventListener('submit', (event) => {
  event.preventDefault()
  results.querySelector('a')?.click()
})
document.addEventListener('keydown', (event) => {
  const isTyping = /^(INPUT|TEXTAREA)$/.test(document.activeElement?.tagName ?? '')
  if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault()
    input.focus()
  }
  if (event.key === 'Escape' && !results.hidden) {
    show()
    input.focus()
  }
  if (!results.hidden && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
    const places = [input, ...results.querySelectorAll('a')]
    const at = places.indexOf(document.activeElement)
    if (at < 0) return
    event.preventDefault()
    places[Math.min(places.length - 1, Math.max(0, at + (event.key === 'ArrowDown' ? 1 : -1)))].focus()
  }
})
document.addEventListener('click', (event) => {
  if (!input.form.contains(event.target)) show()
  else if (event.target.closest('#results a')) show()
})
