import { useQueryClient } from '@tanstack/react-query'
import { authenticate } from '../../api/client.ts'
import { Field } from '../../components/field.tsx'
import { NewPasswordField } from '../../components/new-password-field.tsx'
import { Panel } from '../../components/page.tsx'
import { SettingsForm } from '../../components/settings-form.tsx'

/** Changes the password, which ends all other sessions. */
export function PasswordSection() {
  const client = useQueryClient()
  return (
    <Panel
      title="Password"
      text="A new password signs you out everywhere else. API keys and SSH keys keep working."
    >
      <SettingsForm
        action="Change password"
        look="plain"
        done="The password is changed"
        onSave={async (form, element) => {
          await authenticate('/change-password', {
            currentPassword: form.get('current'),
            newPassword: form.get('new'),
          })
          element.reset()
          await client.invalidateQueries({ queryKey: ['session'] })
        }}
      >
        <Field
          label="Current password"
          name="current"
          type="password"
          autoComplete="current-password"
          required
        />
        <NewPasswordField label="New password" name="new" />
      </SettingsForm>
    </Panel>
  )
}
