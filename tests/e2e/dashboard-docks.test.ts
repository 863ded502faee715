/** The dashboard's pages about one Dock, Snapshots and Templates, in a real browser and on real Docks. */
import { openChromium } from '@dock/testkit'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signInOn, watchComplaints } from './support/dashboard-page.ts'
import { createDock, run, untilState } from './support/dock.ts'
import { freshName, useServer } from './support/use-server.ts'

const server = useServer()
const eventually = { timeout: 60_000 }
let browser: Browser
let page: Page
let dockId: string
const name = freshName('browse')
/** Errors of the console, reports of the content security policy, and dialogs that a script opened. */
const complaints: string[] = []

const hostileName = '<img src=x onerror=alert(1)>\u202etxt.exe'
const svg = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(2)</script></svg>'
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const open = (path: string) => page.goto(server.admin.baseUrl + path)
const openTab = (tab: string) => open(`/docks/${dockId}?tab=${tab}`)
const files = () => page.getByRole('list', { name: 'Files' })
const contents = () => page.getByRole('textbox', { name: 'Contents' })
const writeFile = (path: string, text: string) =>
  server.client.call('writeDockFile', {
    params: { id: dockId },
    query: { path },
    body: new TextEncoder().encode(text),
  })
const readFile = async (path: string): Promise<string> =>
  new TextDecoder().decode(
    await server.client.call('readDockFile', { params: { id: dockId }, query: { path } }),
  )
const act = async (file: string, action: string): Promise<void> => {
  await page.getByRole('button', { name: `Actions for ${file}` }).click()
  await page.getByRole('menuitem', { name: action }).click()
}

beforeAll(async () => {
  browser = await openChromium()
  page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  page.setDefaultTimeout(60_000)
  watchComplaints(page, complaints)
  page.on('dialog', (dialog) => {
    complaints.push(`a dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  await open('/')
  await signInOn(page, server.admin)
  await page.getByRole('heading', { name: 'Docks', exact: true }).waitFor()
  dockId = (await createDock(server, { name })).id
})
afterAll(async () => {
  await browser.close()
})

describe('files of a Dock', () => {
  it('are uploaded, listed and read as text', async () => {
    await openTab('files')
    await page.getByRole('heading', { name: 'This folder is empty' }).waitFor()
    await page
      .getByLabel('Files to upload')
      .setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('first\nsecond\n') })
    await files().getByRole('link', { name: 'notes.txt' }).click()
    await expect.poll(() => contents().inputValue(), eventually).toContain('first\nsecond')
    expect(new URL(page.url()).searchParams.get('path')).toBe('/home/user/work/notes.txt')
  })

  it('are uploaded by a drop, and replaced only after a question', async () => {
    await openTab('files')
    const dropped = await page.evaluateHandle(
      "const data = new DataTransfer(); data.items.add(new File(['dropped'], 'notes.txt')); data",
    )
    await files().waitFor()
    await page.getByRole('region', { name: 'Folder' }).dispatchEvent('drop', { dataTransfer: dropped })
    await page.getByRole('dialog').getByRole('button', { name: 'Replace' }).click()
    await expect.poll(() => readFile('/home/user/work/notes.txt'), eventually).toBe('dropped')
  })

  it('are edited, and a change that came meanwhile is not lost', async () => {
    await open(`/docks/${dockId}?tab=files&path=/home/user/work/notes.txt`)
    await page.getByRole('button', { name: 'Edit' }).click()
    await contents().fill('mine\n')
    await writeFile('/home/user/work/notes.txt', 'written by another\n')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('has changed in the Dock since you opened it').waitFor()
    expect(await readFile('/home/user/work/notes.txt')).toBe('written by another\n')
    await page.getByRole('button', { name: 'Replace it with mine' }).click()
    await page.getByRole('button', { name: 'Edit' }).waitFor()
    expect(await readFile('/home/user/work/notes.txt')).toBe('mine\n')
  })

  it('are renamed and deleted, and folders made', async () => {
    await openTab('files')
    await page.getByRole('button', { name: 'New folder' }).click()
    await page.getByLabel('Name').fill('made here')
    await page.getByRole('button', { name: 'Make folder' }).click()
    await files().getByRole('link', { name: 'made here' }).waitFor()
    await act('made here', 'Rename')
    await page.getByLabel('New name').fill('renamed')
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
    await files().getByRole('link', { name: 'renamed' }).waitFor()
    await act('renamed', 'Delete')
    await page.getByLabel(/Type/).fill('renamed')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await expect.poll(() => files().getByRole('link', { name: 'renamed' }).count(), eventually).toBe(0)
  })

  it('with hostile names and contents run nothing and break nothing', async () => {
    const folder = '/home/user/work/hostile'
    await server.client.call('makeDockFolder', { params: { id: dockId }, body: { path: folder } })
    await writeFile(`${folder}/${hostileName}`, '<script>alert(1)</script>')
    await writeFile(`${folder}/a\u001b]0;title\u0007\nb`, 'x')
    await writeFile(`${folder}/bytes\udcff`, 'bytes')
    await writeFile(`${folder}/image.svg`, svg)
    await writeFile(`${folder}/long`, 'x'.repeat(2 ** 20))
    await run(server, dockId, `echo ${png} | base64 -d > ${folder}/dot.png`)
    await open(`/docks/${dockId}?tab=files&path=${folder}`)
    await files().getByText('onerror=alert(1)>\\u{202e}txt.exe').click()
    await expect.poll(() => contents().inputValue(), eventually).toBe('<script>alert(1)</script>')
    await page.goBack()
    await files().getByText('a␛]0;title␇␊b').waitFor()
    await files().getByRole('link', { name: 'bytes\\xff' }).click()
    await expect.poll(() => contents().inputValue(), eventually).toBe('bytes')
    await page.reload()
    await expect.poll(() => contents().inputValue(), eventually).toBe('bytes')
    await open(`/docks/${dockId}?tab=files&path=${folder}/image.svg`)
    await expect.poll(() => contents().inputValue(), eventually).toBe(svg)
    await open(`/docks/${dockId}?tab=files&path=${folder}/long`)
    await expect.poll(() => contents().inputValue(), eventually).toContain('more characters')
    const overflows = () =>
      page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth')
    expect(await overflows()).toBe(false)
    await open(`/docks/${dockId}?tab=files&path=${folder}/dot.png`)
    const image = page.getByRole('img', { name: 'dot.png' })
    await expect
      .poll(
        () => image.evaluate((element) => (element as unknown as { naturalWidth: number }).naturalWidth),
        eventually,
      )
      .toBe(1)
  })

  it('are listed page by page, however many they are', async () => {
    await run(server, dockId, 'mkdir many && cd many && seq -f f%05g 1 3000 | xargs touch')
    await open(`/docks/${dockId}?tab=files&path=/home/user/work/many`)
    await files().getByRole('link', { name: 'f00001' }).waitFor()
    expect(await files().getByRole('listitem').count()).toBeLessThan(100)
    const last = files().getByRole('link', { name: 'f03000' })
    await expect
      .poll(async () => {
        await page.evaluate('window.scrollTo(0, document.body.scrollHeight)')
        return last.count()
      }, eventually)
      .toBe(1)
  })
})

describe('processes of a Dock', () => {
  it('are started, followed and signalled, whatever they print', async () => {
    await openTab('processes')
    const command = "printf '\\033]0;evil\\007\\033]52;c;ZXZpbA==\\007'; echo $((40+2)) printed; sleep 600"
    await page.getByLabel('Command to start').fill(command)
    await page.getByRole('button', { name: 'Start' }).click()
    await expect.poll(() => page.locator('.xterm-rows').innerText(), eventually).toContain('42 printed')
    expect(await page.title()).not.toContain('evil')
    await page.getByRole('button', { name: /^Signals for/ }).click()
    await page.getByRole('menuitem', { name: /Kill/ }).click()
    await page.getByText('ended by KILL').waitFor()
    await page.getByText('This is all of its output.').waitFor()
  })
})

describe('the settings of a Dock', () => {
  it('rename it, set its timer, and show what the service refuses with the id of the request', async () => {
    await openTab('settings')
    const form = page.getByRole('region', { name: 'Name and timer' })
    await form.getByLabel('Stop by itself after').fill('2')
    await form.getByRole('button', { name: 'Save' }).click()
    await expect
      .poll(
        async () => (await server.client.call('readDock', { params: { id: dockId } })).ttlSeconds,
        eventually,
      )
      .toBe(7200)
    await form.getByLabel('Stop by itself after').fill('60')
    await form.getByLabel('Unit of time').selectOption('days')
    await form.getByRole('button', { name: 'Save' }).click()
    await form
      .getByRole('alert')
      .getByText(/request [0-9a-f-]{36}/)
      .waitFor()
  })

  it('resize it while it is stopped, and shows its Snapshots without it', async () => {
    await server.client.call('stopDock', { params: { id: dockId }, body: {} })
    await untilState(server, dockId, ['archived'])
    await openTab('settings')
    const form = page.getByRole('region', { name: 'Size' })
    await form.getByLabel('Memory in MiB').fill('1536')
    await form.getByRole('button', { name: 'Resize' }).click()
    await expect
      .poll(
        async () => (await server.client.call('readDock', { params: { id: dockId } })).memoryMiB,
        eventually,
      )
      .toBe(1536)
    await openTab('files')
    await page.getByText('or look into its Snapshots').waitFor()
  })
})

describe('Snapshots', () => {
  it('are compared exactly, and their files read, while the Dock sleeps', async () => {
    await server.client.call('resumeDock', { params: { id: dockId }, body: {} })
    await untilState(server, dockId, ['ready', 'idle', 'running'])
    // The same length, and a time in the past: only the bytes tell.
    await run(
      server,
      dockId,
      'touch -r notes.txt /tmp/t && echo MINE > notes.txt && touch -r /tmp/t notes.txt',
    )
    await run(server, dockId, 'chmod 600 hostile/long && echo new > added.txt && rm hostile/dot.png')
    await server.client.call('stopDock', { params: { id: dockId }, body: {} })
    await untilState(server, dockId, ['archived'])
    await open(`/snapshots?dock=${dockId}`)
    const list = page.getByRole('list', { name: 'Snapshots' })
    await expect.poll(() => list.getByRole('listitem').count(), eventually).toBe(2)
    for (const box of await list.getByRole('checkbox').all()) await box.check()
    await page.getByRole('button', { name: 'Compare two' }).click()
    await page.getByText(/files and folders differ\./).waitFor()
    const changes = page.getByRole('list', { name: 'Changes' })
    const shown = await changes.getByRole('listitem').allInnerTexts()
    const of = (path: string) => shown.find((text) => text.includes(path))?.replaceAll('\n', ' ')
    expect(of('/work/notes.txt')).toContain('contents')
    expect(of('/work/hostile/long')).toContain('mode 0644 → 0600')
    expect(of('/work/added.txt')).toContain('added')
    expect(of('/work/hostile/dot.png')).toContain('removed')
    expect(of('/work/hostile/image.svg')).toBeUndefined()
    await changes.getByRole('link', { name: /notes\.txt/ }).click()
    await expect.poll(() => contents().inputValue(), eventually).toBe('MINE\n')
    await page
      .getByRole('link', { name: 'hostile' })
      .or(page.getByRole('link', { name: 'work' }))
      .first()
      .click()
    await files().getByRole('link', { name: 'hostile' }).click()
    await files().getByText('onerror=alert(1)>').click()
    await expect.poll(() => contents().inputValue(), eventually).toBe('<script>alert(1)</script>')
    expect((await server.client.call('readDock', { params: { id: dockId } })).state).toBe('archived')
  })
})

describe('Templates', () => {
  const template = freshName('frozen')

  it('are frozen from a Dock, and say who made them from what', async () => {
    await openTab('settings')
    const form = page.getByRole('region', { name: 'Freeze as Template' })
    await form.getByLabel('Name of the Template').fill(template)
    await form.getByRole('button', { name: 'Freeze' }).click()
    const row = page
      .getByRole('list', { name: 'Templates' })
      .getByRole('listitem')
      .filter({ hasText: template })
    await row.getByText('ready').waitFor()
    await row.getByRole('link', { name }).waitFor()
    await row.getByRole('link', { name: 'New Dock' }).click()
    expect(await page.getByLabel('Template', { exact: true }).inputValue()).toBe(template)
  })

  it('start a Dock from the form, which says the same as a line', async () => {
    const made = freshName('made')
    await page.getByLabel('Name', { exact: true }).fill(made)
    await page.getByLabel('CPUs').fill('1')
    await page.getByLabel('Memory in MiB').fill('1024')
    await page.getByLabel('Disk in GiB').fill('2')
    await page.getByRole('textbox', { name: 'Variables' }).fill("GREETING=it's on")
    const line = page.getByLabel('Command line', { exact: true })
    await expect
      .poll(() => line.inputValue())
      .toContain(`dock create ${made} --cpus 1 --memory 1024M --disk 2G`)
    expect(await line.inputValue()).toContain(`--from ${template}`)
    await page.getByRole('button', { name: 'Create' }).click()
    await expect.poll(() => page.locator('.xterm-rows').innerText(), eventually).toMatch(/\$\s*$/)
    await page.keyboard.type('echo "$GREETING" && cat added.txt\n')
    await expect.poll(() => page.locator('.xterm-rows').innerText(), eventually).toMatch(/it's on\s+new/)
  })

  it('are deleted by their name', async () => {
    await open('/templates')
    const row = page.getByRole('listitem').filter({ hasText: template })
    await row.getByRole('button', { name: 'Delete' }).click()
    await page.getByLabel(/Type/).fill(template)
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await expect.poll(() => row.count(), eventually).toBe(0)
  })
})

it('none of these pages breaks the content security policy, or logs an error', () => {
  expect(complaints).toEqual([])
})
