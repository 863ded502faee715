import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { Panel } from '../../components/page.tsx'
import { Row, Rows } from '../../components/rows.tsx'
import { SecretValue } from './secret-value.tsx'

/** Named secrets of an Environment, which admins add, replace and remove. `values` are there while they are revealed. */
export function SecretRows(props: {
  title: string
  text?: string
  /** What is said if there are none. */
  empty: string
  isAdmin: boolean
  items: readonly { name: string; hidden: ReactNode }[]
  values: ReadonlyMap<string, string> | undefined
  /** `variable` or `file`. */
  word: string
  editText: string
  /** Fields of the dialog. `isNew`: it also asks for the name. */
  fields: (isNew: boolean) => ReactNode
  /** Saves the form. The name is undefined for a new secret. */
  onSave: (form: FormData, name: string | undefined) => Promise<unknown>
  removeText: string
  onRemove: (name: string) => Promise<unknown>
}) {
  const { title, items, isAdmin, values, word } = props
  const client = useQueryClient()
  const [edited, setEdited] = useState<{ name?: string }>()
  const [removed, setRemoved] = useState<string>()
  const readAgain = () => client.invalidateQueries({ queryKey: ['environment'] })
  return (
    <Panel
      title={title}
      text={props.text}
      actions={isAdmin && <Button onClick={() => setEdited({})}>Add {word}</Button>}
    >
      {items.length === 0 ? (
        <p className="m-0 text-sm text-muted">{props.empty}</p>
      ) : (
        <Rows label={title}>
          {items.map(({ name, hidden }) => {
            const value = values?.get(name)
            return (
              <Row
                key={name}
                title={<code className="font-mono text-sm">{name}</code>}
                text={value === undefined ? hidden : <SecretValue name={name} value={value} />}
              >
                {isAdmin && (
                  <>
                    <Button aria-label={`Replace ${name}`} onClick={() => setEdited({ name })}>
                      Replace
                    </Button>
                    <Button look="danger" aria-label={`Remove ${name}`} onClick={() => setRemoved(name)}>
                      Remove
                    </Button>
                  </>
                )}
              </Row>
            )
          })}
        </Rows>
      )}
      <FormDialog
        title={edited?.name === undefined ? `Add a ${word}` : `Replace ${edited.name}`}
        description={props.editText}
        action="Save"
        open={edited !== undefined}
        onClose={() => setEdited(undefined)}
        onSubmit={async (form) => {
          await props.onSave(form, edited?.name)
          await readAgain()
        }}
      >
        {props.fields(edited?.name === undefined)}
      </FormDialog>
      <ConfirmDialog
        title={`Remove ${removed ?? ''}?`}
        description={props.removeText}
        name={removed ?? ''}
        action="Remove"
        open={removed !== undefined}
        onClose={() => setRemoved(undefined)}
        onConfirm={async () => {
          await props.onRemove(removed ?? '')
          await readAgain()
        }}
      />
    </Panel>
  )
}
