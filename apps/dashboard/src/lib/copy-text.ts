import { showError, showToast } from '../components/toasts.tsx'

/** Copies the text, and says so. */
export function copyText(text: string): void {
  navigator.clipboard.writeText(text).then(() => showToast('Copied'), showError)
}
