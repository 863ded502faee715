import { authenticate } from '../../api/client.ts'
import { showError } from '../../components/toasts.tsx'

/** Ends the session, and leads to the sign-in. */
export async function signOut(): Promise<void> {
  try {
    await authenticate('/sign-out', {})
    location.assign('/sign-in')
  } catch (error) {
    showError(error)
  }
}
