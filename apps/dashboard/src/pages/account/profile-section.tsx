import type { Profile } from '@dock/sdk'
import { bioLengthMax, displayNameLengthMax } from '@dock/sdk/dashboard-rules'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { profileQuery } from '../../api/people-queries.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { textIn } from '../../components/form-dialog.tsx'
import { Panel } from '../../components/page.tsx'
import { Pending } from '../../components/pending.tsx'
import { showToast } from '../../components/toasts.tsx'

/** What other members see of the person. */
export function ProfileSection() {
  const profile = useQuery(profileQuery)
  return (
    <Panel title="Profile" text="What other members of your organizations see.">
      {profile.data ? (
        <ProfileForm key={profile.data.updatedAt} profile={profile.data} />
      ) : (
        <Pending error={profile.error} />
      )}
    </Panel>
  )
}

function ProfileForm({ profile }: { profile: Profile }) {
  const client = useQueryClient()
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const save = async (form: FormData): Promise<void> => {
    setBusy(true)
    setError(undefined)
    try {
      const saved = await api.call('updateProfile', {
        body: { displayName: textIn(form, 'name'), bio: textIn(form, 'bio') },
      })
      client.setQueryData(profileQuery.queryKey, saved)
      showToast('Saved')
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }
  return (
    <form
      className="grid max-w-md gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        void save(new FormData(event.currentTarget))
      }}
    >
      <Field
        label="Name"
        name="name"
        defaultValue={profile.displayName}
        autoComplete="name"
        maxLength={displayNameLengthMax}
        required
      />
      <Field label="About you" name="bio" defaultValue={profile.bio} maxLength={bioLengthMax} />
      {error !== undefined && <ErrorAlert error={error} />}
      <Button type="submit" look="primary" busy={busy} className="justify-self-start">
        Save
      </Button>
    </form>
  )
}
