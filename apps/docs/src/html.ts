/** Text that is HTML already. `html` escapes every value that is not. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
  toString(): string {
    return this.text
  }
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Escapes text for HTML, inside and outside attributes. */
export function escapeText(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => entities[sign] ?? sign)
}

type Value = Html | string | number | false | undefined | null | readonly Value[]

const render = (value: Value): string => {
  if (value instanceof Html) return value.text
  if (Array.isArray(value)) return value.map(render).join('')
  return value === false || value === undefined || value === null ? '' : escapeText(String(value))
}

/** Builds HTML from a template. Values are escaped, lists are joined, and false, null and undefined are left out. */
export function html(parts: TemplateStringsArray, ...values: Value[]): Html {
  return new Html(parts.map((part, index) => part + render(values[index])).join(''))
}
