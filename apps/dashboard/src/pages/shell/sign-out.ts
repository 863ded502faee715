import { authenticate } from '../../api/client.ts'
import { showError } from '../../components/toasts.tsx'

/** Ends the session, and leads to the sign-in, and from there to `next`. */
export async function signOut(next?: string): Promise<void> {
  try {
    await authenticate('/sign-out', {})
    location.assign(next === undefined ? '/sign-in' : `/sign-in?next=${encodeURIComponent(next)}`)
  } catch (error) {
    showError(error)
  }
}
