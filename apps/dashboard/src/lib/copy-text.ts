import { showError, showToast } from '../components/toasts.tsx'

const write = async (text: string): Promise<void> => {
  // Browsers give the clipboard only to pages that came by https, or from this computer.
  if (!navigator.clipboard)
    throw new Error('This page came without https, so it cannot copy. Select the text.')
  await navigator.clipboard.writeText(text)
}

/** Copies the text, and says so. */
export function copyText(text: string): void {
  write(text).then(() => showToast('Copied'), showError)
}
