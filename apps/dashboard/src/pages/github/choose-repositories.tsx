import type { GithubChoices } from '@dock/sdk'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { installationsQuery } from '../../api/github-queries.ts'
import { Notice } from '../../components/alert.tsx'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Checkbox } from '../../components/field.tsx'
import { OutsideLink } from '../../components/outside-link.tsx'
import { Panel } from '../../components/page.tsx'
import { visibleName } from '../../lib/visible-text.ts'

/** The repositories that the person may link, by account. */
export function ChooseRepositories(props: {
  workspaceId: string
  choices: GithubChoices
  busy: boolean
  again: ReactNode
  onLink: (repositoryIds: number[]) => void
}) {
  const { workspaceId, choices, busy, again, onLink } = props
  const { data } = useQuery(installationsQuery(workspaceId))
  const linked = new Set(data?.flatMap(({ repos }) => repos))
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set())
  const choose = (id: number, isChosen: boolean): void =>
    setChosen((before) => new Set(isChosen ? [...before, id] : [...before].filter((each) => each !== id)))
  return (
    <>
      {choices.installations.map(({ installationId, account, repositories }) => (
        <Panel key={installationId} title={<bdi>{visibleName(account)}</bdi>}>
          <div className="grid gap-2">
            {repositories.map(({ repositoryId, fullName, isPrivate }) => (
              <Checkbox
                key={repositoryId}
                checked={chosen.has(repositoryId) || linked.has(fullName)}
                disabled={linked.has(fullName)}
                onChange={({ target }) => choose(repositoryId, target.checked)}
                label={
                  <>
                    <bdi>{visibleName(fullName)}</bdi> {isPrivate && <Badge>private</Badge>}{' '}
                    {linked.has(fullName) && <Badge tone="good">linked</Badge>}
                  </>
                }
              />
            ))}
          </div>
        </Panel>
      ))}
      {choices.installations.length === 0 && (
        <Notice tone="wait">
          The App is installed on no repository that you administer. Install it at GitHub, then look again.
        </Notice>
      )}
      {!choices.isComplete && (
        <Notice tone="wait">There are more than fit here. Install the App on fewer repositories.</Notice>
      )}
      <div className="flex flex-wrap items-center gap-3">
        <Button look="primary" busy={busy} disabled={chosen.size === 0} onClick={() => onLink([...chosen])}>
          {chosen.size === 1 ? 'Link 1 repository' : `Link ${chosen.size} repositories`}
        </Button>
        {again}
        <span className="text-sm">
          <OutsideLink to={choices.installUrl}>Install the App on more repositories</OutsideLink>
        </span>
      </div>
    </>
  )
}
