/**
 * VS Code's own server in the Dock, opened in a browser through `ssh -L`: a person types in its terminal. Then the
 * connection breaks and a new one takes its place, and the same terminal goes on.
 */
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { openChromium } from '@dock/testkit/src/open-chromium.ts'
import type { Page } from 'playwright-core'
import { eventually, must, type Setting } from './setting.ts'
import { packVscodeServer } from './vscode-server.ts'

const minutes = 60_000

/** Starts the server as a daemon and returns its port. */
const startServer = async (setting: Setting): Promise<number> => {
  const archive = await packVscodeServer(setting.folder)
  await setting.run('scp', [...setting.options, '-q', archive, `${setting.host}:`])
  await setting.ssh('mkdir -p code && tar -xzf vscode-server.tar.gz -C code && mkdir -p project/.vscode')
  const settings = {
    // The terminal is drawn with elements then, whose text the proof can read.
    'terminal.integrated.gpuAcceleration': 'off',
    // VS Code restarts a terminal to which an extension adds variables if nothing was typed. It looks too early: what is
    // typed while it asks the server for its system is lost, on a busy machine with all that the proof has typed.
    'terminal.integrated.environmentChangesRelaunch': false,
  }
  await setting.ssh('cat >project/.vscode/settings.json', JSON.stringify(settings))
  await setting.ssh(
    `cd code || exit; nohup ./node out/server-main.js --host 127.0.0.1 --port 0 --without-connection-token \\
      --accept-server-license-terms >../code.log 2>&1 </dev/null &`,
  )
  return eventually(
    'the port of the server',
    async () => {
      const port = /listening on (\d+)/.exec(await setting.ssh('cat code.log'))?.[1]
      return port === undefined ? undefined : Number(port)
    },
    2 * minutes,
  )
}

/** Returns the text that the terminal shows. */
const terminalText = (page: Page): Promise<string> =>
  page.evaluate(
    `[...document.querySelectorAll('.xterm-rows > div')].map((row) => row.textContent).join('\\n')`,
  )

const typeLine = async (page: Page, text: string): Promise<void> => {
  await page.keyboard.type(text)
  await page.keyboard.press('Enter')
}

/** Proves it, and returns what the line of the proof says. */
export async function proveVscode(setting: Setting, pictures: string): Promise<string> {
  const [remote, local] = [await startServer(setting), await freePort()]
  const forward = () =>
    setting.start('ssh', [...setting.options, '-N', '-L', `${local}:127.0.0.1:${remote}`, setting.host])
  let tunnel = forward()
  const address = `http://127.0.0.1:${local}`
  await eventually(
    'the server through the tunnel',
    async () => (await fetch(`${address}/version`)).ok || undefined,
  )
  const browser = await openChromium()
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  try {
    const begin = performance.now()
    await page.goto(`${address}/?folder=/home/user/project`)
    await page.waitForSelector('.monaco-workbench .part.statusbar', { timeout: 2 * minutes })
    const opened = performance.now() - begin
    await page.keyboard.press('Control+Backquote')
    await page.getByText('Trust Folder & Continue').click()
    await page.waitForSelector('.xterm-helper-textarea', { timeout: minutes, state: 'attached' })
    await page.screenshot({ path: join(pictures, 'vscode-1.png') })
    await eventually('a prompt', async () => /[$#]/.test(await terminalText(page)) || undefined)
    await page.focus('.xterm-helper-textarea')
    await typeLine(page, 'kept=41; echo "typed $((6 * 7)) $(hostname) shell $$" | tee typed')
    await eventually('the output', async () => (await terminalText(page)).includes('typed 42') || undefined)
    await page.screenshot({ path: join(pictures, 'vscode-2.png') })
    must(
      (await setting.look('cat /home/user/project/typed')).startsWith('typed 42'),
      'the command left no file',
    )

    tunnel.kill('SIGKILL')
    await once(tunnel, 'close')
    tunnel = forward()
    await eventually(
      'the same shell after the connection broke',
      async () => {
        await page.focus('.xterm-helper-textarea')
        await typeLine(page, 'echo "again $((kept + 2))"')
        await page.waitForTimeout(2_000)
        return (await terminalText(page)).includes('again 43') || undefined
      },
      3 * minutes,
    )
    await page.screenshot({ path: join(pictures, 'vscode-3.png') })
    return `the workbench opened in ${(opened / 1000).toFixed(1)} s, its terminal typed, and it went on after a broken connection`
  } catch (error) {
    const logs = await setting.look(
      `find ~ -path '*/logs/*' -name '*.log' -size +0 -exec tail -n 40 {} + ; cat ~/code.log ~/project/typed; ps -ef`,
    )
    await writeFile(join(pictures, 'vscode.log'), `${await terminalText(page)}\n\n${logs}`)
    throw error
  } finally {
    await page.screenshot({ path: join(pictures, 'vscode-last.png') }).catch(() => undefined)
    await browser.close()
    tunnel.kill()
    await setting.look('pkill -f server-[m]ain.js || true')
  }
}
