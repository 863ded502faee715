/** Agents want a key of their provider. The door ignores this one, and adds the organization's outside. */
export const placeholderKey = 'none'
