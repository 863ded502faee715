import type { Environment } from '@dock/sdk'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { Section } from '../../components/section.tsx'
import { Select } from '../../components/select.tsx'
import { Switch } from '../../components/switch.tsx'
import { showError } from '../../components/toasts.tsx'
import { type PostureName, postures, withheld } from './postures.ts'
import type { TabProps } from './tab-props.ts'

const onlyAdmins = 'Only admins change this.'

/** What Docks receive, and who may use Docks that receive secrets. */
export function PostureTab({ environment, isAdmin }: TabProps) {
  const client = useQueryClient()
  const [busy, setBusy] = useState<string>()
  const change = async (
    what: string,
    body: Partial<Pick<Environment, PostureName | 'secretsAccess' | 'safeForThirdParties'>>,
  ): Promise<void> => {
    setBusy(what)
    try {
      await api.call('updateEnvironment', { params: { ref: environment.id }, body })
      await client.invalidateQueries({ queryKey: ['environment'] })
    } catch (error) {
      showError(error)
    } finally {
      setBusy(undefined)
    }
  }
  const isSafe = environment.safeForThirdParties
  return (
    <>
      <Section
        title="What Docks get"
        text="Each change makes a new version. Docks get it when they are upgraded, or resume."
      >
        <div className="grid gap-5">
          <Switch
            label="Safe for third parties"
            text={withheld}
            isOn={isSafe}
            busy={busy === 'safeForThirdParties'}
            disabledBecause={isAdmin ? undefined : onlyAdmins}
            onChange={(isOn) => void change('safeForThirdParties', { safeForThirdParties: isOn })}
          />
          <hr className="m-0 border-line" />
          {postures.map(({ name, label, on, off }) => (
            <Switch
              key={name}
              label={label}
              text={
                isSafe
                  ? 'Withheld, because the Environment is safe for third parties.'
                  : environment[name]
                    ? on
                    : off
              }
              isOn={environment[name]}
              busy={busy === name}
              disabledBecause={isAdmin ? undefined : onlyAdmins}
              onChange={(isOn) => void change(name, { [name]: isOn })}
            />
          ))}
        </div>
      </Section>
      <Section
        title="Who may use Docks with these secrets"
        text="Whoever can open a shell in a Dock can read what the Dock was given."
      >
        <Select
          label="Access to secrets"
          className="max-w-md"
          value={environment.secretsAccess}
          disabled={!isAdmin || busy === 'secretsAccess'}
          title={isAdmin ? undefined : onlyAdmins}
          options={[
            { value: 'admins', label: 'Admins and owners only' },
            { value: 'members', label: 'All members' },
          ]}
          hint={
            environment.secretsAccess === 'admins'
              ? 'Members cannot start or use Docks that receive its secrets, files or credentials.'
              : 'Every member can start such Docks, and so read the secrets in them.'
          }
          onChange={(secretsAccess) => void change('secretsAccess', { secretsAccess })}
        />
      </Section>
    </>
  )
}
