import { useQuery } from '@tanstack/react-query'
import { meQuery } from '../../api/queries.ts'
import { Notice } from '../../components/alert.tsx'

/** Where the link of a mail leads that should have confirmed the address, and did not. */
export function FailedConfirmation() {
  const { data: me } = useQuery(meQuery)
  if (!me || me.emailVerified) return null
  return (
    <Notice tone="wait">
      <p role="alert" className="m-0">
        The link of the mail works no more. Ask for a new one.
      </p>
    </Notice>
  )
}
