import { useState } from 'react'
import { api } from '../../../api/client.ts'
import { ErrorAlert } from '../../../components/alert.tsx'
import { Button } from '../../../components/button.tsx'
import { bareControlClass } from '../../../components/field.tsx'
import { Form } from '../../../components/form.tsx'
import { useFormAction } from '../../../lib/use-form-action.ts'

/** A line that starts a process. */
export function StartProcess({ dockId, onStarted }: { dockId: string; onStarted: (id: string) => void }) {
  const [command, setCommand] = useState('')
  const { busy, error, run } = useFormAction()
  const start = async (): Promise<void> => {
    const { id } = await api.call('startDockProcess', { params: { id: dockId }, body: { command } })
    setCommand('')
    onStarted(id)
  }
  return (
    <Form className="grid gap-2" onSubmit={() => run(start)}>
      <div className="flex items-center gap-2">
        <input
          aria-label="Command to start"
          placeholder="npm run dev"
          value={command}
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => setCommand(target.value)}
          className={`min-w-0 flex-1 font-mono ${bareControlClass}`}
        />
        <Button type="submit" busy={busy} disabled={command.trim() === ''}>
          Start
        </Button>
      </div>
      <p className="m-0 text-xs text-muted">Runs in /home/user/work, and goes on when you close this page.</p>
      {error !== undefined && <ErrorAlert error={error} />}
    </Form>
  )
}
