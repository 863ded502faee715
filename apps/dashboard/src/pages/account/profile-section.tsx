import type { Profile } from '@dock/sdk'
import { bioLengthMax, displayNameLengthMax } from '@dock/sdk/dashboard-rules'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { profileQuery } from '../../api/people-queries.ts'
import { Field, TextArea } from '../../components/field.tsx'
import { textIn } from '../../components/form-dialog.tsx'
import { Panel } from '../../components/page.tsx'
import { Pending } from '../../components/pending.tsx'
import { SettingsForm } from '../../components/settings-form.tsx'

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
  return (
    <SettingsForm
      onSave={async (form) => {
        const body = { displayName: textIn(form, 'name'), bio: textIn(form, 'bio') }
        client.setQueryData(profileQuery.queryKey, await api.call('updateProfile', { body }))
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
      <TextArea label="About you" name="bio" rows={3} defaultValue={profile.bio} maxLength={bioLengthMax} />
    </SettingsForm>
  )
}
