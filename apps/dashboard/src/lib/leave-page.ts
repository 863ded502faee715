/** Loads another page. The promise never resolves, so a button that waits for it stays busy until this page is gone. */
export function leavePage(address: string): Promise<never> {
  location.assign(address)
  return new Promise(() => undefined)
}
