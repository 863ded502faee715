import type { Environment } from '@dock/sdk'
import { useQueryClient } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { OptionSelect } from '../../components/option-select.tsx'
import { Panel } from '../../components/page.tsx'
import { Switch } from '../../components/switch.tsx'
import { useAction } from '../../lib/use-action.ts'
import { type PostureName, postures, withheld } from './postures.ts'
import type { TabProps } from './tab-props.ts'

const onlyAdmins = 'Only admins change this.'

/** What Docks receive, and who may use Docks that receive secrets. */
export function PostureTab({ environment, isAdmin }: TabProps) {
  const client = useQueryClient()
  const { busy, run } = useAction()
  const change = (
    name: string,
    body: Partial<Pick<Environment, PostureName | 'secretsAccess' | 'safeForThirdParties'>>,
  ): void =>
    run(name, async () => {
      await api.call('updateEnvironment', { params: { ref: environment.id }, body })
      await client.invalidateQueries({ queryKey: ['environment'] })
    })
  const isSafe = environment.safeForThirdParties
  return (
    <>
      <Panel
        title="What Docks get"
        text={
          isAdmin
            ? 'Each change makes a new version. Docks get it when they are upgraded, or resume.'
            : 'Only admins change what Docks get.'
        }
      >
        <div className="grid gap-5">
          <Switch
            label="Safe for third parties"
            hint={withheld}
            checked={isSafe}
            disabled={!isAdmin || busy !== undefined}
            onChange={(isOn) => change('safeForThirdParties', { safeForThirdParties: isOn })}
          />
          <hr className="m-0 border-line" />
          {postures.map(({ name, label, on, off }) => (
            <Switch
              key={name}
              label={label}
              hint={
                isSafe
                  ? 'Withheld, because the Environment is safe for third parties.'
                  : environment[name]
                    ? on
                    : off
              }
              checked={environment[name]}
              disabled={!isAdmin || busy !== undefined}
              onChange={(isOn) => change(name, { [name]: isOn })}
            />
          ))}
        </div>
      </Panel>
      <Panel
        title="Who may use Docks with these secrets"
        text="Whoever can open a shell in a Dock can read what the Dock was given."
      >
        <OptionSelect
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
          onChange={(secretsAccess) => change('secretsAccess', { secretsAccess })}
        />
      </Panel>
    </>
  )
}
