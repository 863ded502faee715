import { searchText } from './search-text.ts'

/** What the address of an audit log chooses: the kind of action or the action, the person, and the first and last day. */
export type AuditSearch = {
  action?: string | undefined
  person?: string | undefined
  from?: string | undefined
  to?: string | undefined
}

/** Returns the text if it is a day as `2026-11-30`. */
const dayText = (value: unknown): string | undefined => {
  const text = searchText(value)
  return text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))
    ? text
    : undefined
}

/** Reads the filters of an address. What is none is left out. */
export function auditSearch(search: Record<string, unknown>): AuditSearch {
  const [action, person] = [searchText(search.action), searchText(search.person)]
  return {
    action: action && /^[a-z_]{1,40}(\.[a-z_]{1,40})?$/.test(action) ? action : undefined,
    person: person && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(person) ? person : undefined,
    from: dayText(search.from),
    to: dayText(search.to),
  }
}
