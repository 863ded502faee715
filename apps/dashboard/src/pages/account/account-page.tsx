import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { meQuery } from '../../api/queries.ts'
import { Page } from '../../components/page.tsx'
import { Pending } from '../../components/pending.tsx'
import { CloseSection } from './close-section.tsx'
import { EraseSection } from './erase-section.tsx'
import { PasswordSection } from './password-section.tsx'
import { ProfileSection } from './profile-section.tsx'
import { SessionsSection } from './sessions-section.tsx'

/** The person's name, password and sessions, and the end of the account. */
export function AccountPage() {
  const me = useQuery(meQuery)
  if (!me.data)
    return (
      <Page title="Account">
        <Pending error={me.error} />
      </Page>
    )
  const hasPassword = me.data.providers.includes('credential')
  return (
    <Page
      title="Account"
      text={`You are ${me.data.email}.`}
      actions={
        <Link to="/keys" search={{ tab: 'connections' }} className="text-sm text-accent underline">
          Ways to sign in
        </Link>
      }
    >
      <ProfileSection />
      {hasPassword && <PasswordSection />}
      <SessionsSection />
      <CloseSection email={me.data.email} />
      <EraseSection />
    </Page>
  )
}
