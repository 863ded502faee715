/** All components of the design system. In development builds only. */
import { Box } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { ErrorAlert, Notice } from '../../components/alert.tsx'
import { Badge } from '../../components/badge.tsx'
import { Button, IconButton } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { CopyLine } from '../../components/copy-line.tsx'
import { Dialog, DialogActions } from '../../components/dialog.tsx'
import { Empty } from '../../components/empty.tsx'
import { Checkbox, Field, SelectField, TextArea } from '../../components/field.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../components/menu.tsx'
import { Facts, Page, Panel } from '../../components/page.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { Switch } from '../../components/switch.tsx'
import { Cell, Row, Table } from '../../components/table.tsx'
import { Segments } from '../../components/tabs.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { showToast } from '../../components/toasts.tsx'
import { Tooltip } from '../../components/tooltip.tsx'

const colors = ['page', 'panel', 'raised', 'line', 'control', 'ink', 'muted', 'accent', 'good', 'wait', 'bad']

function Line({ children }: { children: ReactNode }) {
  return <div className="flex flex-wrap items-center gap-3">{children}</div>
}

export function GalleryPage() {
  const [isOn, setOn] = useState(true)
  const [segment, setSegment] = useState<'one' | 'two'>('one')
  const [shown, setShown] = useState<'dialog' | 'confirm'>()
  return (
    <Page
      title="Gallery"
      text="Every component, in development builds only."
      actions={<Button>Action</Button>}
    >
      <Panel title="Colours">
        <Line>
          {colors.map((color) => (
            <span key={color} className="grid justify-items-center gap-1 text-xs">
              <span
                className="size-10 rounded-md border border-line"
                style={{ background: `var(--${color})` }}
              />
              {color}
            </span>
          ))}
        </Line>
      </Panel>
      <Panel title="Type">
        {['text-xl', 'text-lg', 'text-base', 'text-sm', 'text-xs'].map((size) => (
          <p key={size} className={`m-0 ${size}`}>
            {size}: machines that wake when you need them
          </p>
        ))}
      </Panel>
      <Panel title="Buttons and menus">
        <Line>
          {(['primary', 'plain', 'quiet', 'danger'] as const).map((look) => (
            <Button key={look} look={look}>
              {look}
            </Button>
          ))}
          <Button busy>busy</Button>
          <Button size="small">small</Button>
          <IconButton label="An icon">
            <Box size={16} aria-hidden="true" />
          </IconButton>
          <Menu trigger={<Button>Menu</Button>}>
            <MenuItem onSelect={() => showToast('Chosen')}>Choose</MenuItem>
            <MenuSeparator />
            <MenuItem danger onSelect={() => showToast('Deleted', true)}>
              Delete
            </MenuItem>
          </Menu>
          <Tooltip text="It says more on hover and focus.">
            <Button>Tooltip</Button>
          </Tooltip>
          <Button onClick={() => setShown('dialog')}>Dialog</Button>
          <Button onClick={() => setShown('confirm')}>Confirm</Button>
        </Line>
      </Panel>
      <Panel title="Forms">
        <div className="grid gap-4 md:grid-cols-2">
          <Field label="Name" hint="What it is called." placeholder="api" />
          <Field label="Port" error="A port is a number from 1 to 65535." defaultValue="0" />
          <SelectField label="Size">
            <option>Small</option>
            <option>Large</option>
          </SelectField>
          <TextArea label="Script" rows={2} />
          <Checkbox label="Pass secrets" hint="Variables reach the Dock." defaultChecked />
          <Switch label="Mail me" hint="Alerts also come by mail." checked={isOn} onChange={setOn} />
        </div>
        <Segments
          label="Window"
          value={segment}
          options={[
            { value: 'one', label: 'Last hour' },
            { value: 'two', label: 'Last day' },
          ]}
          onChange={setSegment}
        />
      </Panel>
      <Panel title="States">
        <Line>
          {(['neutral', 'accent', 'good', 'wait', 'bad'] as const).map((tone) => (
            <Badge key={tone} tone={tone}>
              {tone}
            </Badge>
          ))}
          <StateBadge state="running" />
          <StateBadge state="archived" />
          <StateBadge state="error" />
          <RelativeTime at={new Date().toISOString()} />
        </Line>
        <Notice>A notice that stays.</Notice>
        <Notice tone="wait">A notice of something to wait for.</Notice>
        <ErrorAlert error={new Error('The service’s sentence.')} onRetry={() => undefined} />
        <Skeleton />
        <Empty title="Nothing yet" text="What to do next." icon={<Box size={18} />}>
          <Button look="primary">The one next step</Button>
        </Empty>
        <CopyLine label="A line to copy" text="ssh -p 2222 dock@localhost" />
      </Panel>
      <Table label="Table" columns={['Name', 'State', '']}>
        <Row>
          <Cell>api</Cell>
          <Cell>
            <Badge tone="good">ready</Badge>
          </Cell>
          <Cell className="text-right">
            <Button size="small">Open</Button>
          </Cell>
        </Row>
      </Table>
      <Panel title="Facts">
        <Facts
          facts={[
            ['Image', 'ubuntu-24.04'],
            ['Size', '2 CPUs, 4 GiB'],
          ]}
        />
      </Panel>
      <Dialog
        title="A dialog"
        description="It traps the focus."
        open={shown === 'dialog'}
        onClose={() => setShown(undefined)}
      >
        <DialogActions>
          <Button onClick={() => setShown(undefined)}>Close</Button>
        </DialogActions>
      </Dialog>
      <ConfirmDialog
        title="Delete api?"
        description="Its disk is deleted."
        name="api"
        action="Delete"
        open={shown === 'confirm'}
        onClose={() => setShown(undefined)}
        onConfirm={async () => undefined}
      />
    </Page>
  )
}
