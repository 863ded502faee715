import { passwordLength } from '@dock/sdk/dashboard-rules'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { authenticate } from '../../api/client.ts'
import { ErrorAlert } from '../../components/alert.tsx'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import { Panel } from '../../components/page.tsx'
import { showToast } from '../../components/toasts.tsx'

/** Changes the password, which ends all other sessions. */
export function PasswordSection() {
  const client = useQueryClient()
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const change = async (element: HTMLFormElement): Promise<void> => {
    const form = new FormData(element)
    setBusy(true)
    setError(undefined)
    try {
      await authenticate('/change-password', {
        currentPassword: form.get('current'),
        newPassword: form.get('new'),
      })
      element.reset()
      await client.invalidateQueries({ queryKey: ['session'] })
      showToast('The password is changed')
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Panel
      title="Password"
      text="A new password signs you out everywhere else. API keys and SSH keys keep working."
    >
      <form
        className="grid max-w-md gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          void change(event.currentTarget)
        }}
      >
        <Field
          label="Current password"
          name="current"
          type="password"
          autoComplete="current-password"
          required
        />
        <Field
          label="New password"
          name="new"
          type="password"
          autoComplete="new-password"
          minLength={passwordLength.min}
          hint={`At least ${passwordLength.min} characters`}
          required
        />
        {error !== undefined && <ErrorAlert error={error} />}
        <Button type="submit" busy={busy} className="justify-self-start">
          Change password
        </Button>
      </form>
    </Panel>
  )
}
