import { passwordLength } from '@dock/sdk/dashboard-rules'
import { Field } from './field.tsx'

/** A field for a new password, which says how long it must be. */
export function NewPasswordField(props: { label: string; name: string; autoFocus?: boolean }) {
  return (
    <Field
      {...props}
      type="password"
      autoComplete="new-password"
      minLength={passwordLength.min}
      hint={`At least ${passwordLength.min} characters`}
      required
    />
  )
}
