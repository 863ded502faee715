/**
 * Lets libraries add styles under the strict policy: the terminal and dialogs make style elements at run time, and the
 * policy accepts those that carry the nonce of this page.
 */
const nonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? ''

/** Gives every style element that is made from now on the nonce of the page. Call this once. */
export function giveStylesTheNonce(): void {
  const create = document.createElement.bind(document)
  document.createElement = ((name: string, options?: ElementCreationOptions) => {
    const element = create(name, options)
    if (name.toLowerCase() === 'style') element.nonce = nonce
    return element
  }) as typeof document.createElement
}
