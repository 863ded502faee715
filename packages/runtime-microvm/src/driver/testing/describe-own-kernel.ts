/**
 * Tests of what the kernel of its own gives a machine whose disk is an image: the real `sudo`, modules and devices. And of `sudo`
 * on a disk that lacks the package.
 */
import type { OpenProcess, RuntimeDriver, SandboxHandle, SandboxSpec } from '@dock/runtime'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const asUser = {
  ...{ cwd: '/tmp', uid: 1000, gid: 1000 },
  env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', TERM: 'dumb', PROOF: 'kept' },
}
const patiently = { timeout: 30_000 }

export function describeOwnKernel(
  makeDriver: () => RuntimeDriver,
  makeSpec: () => Promise<SandboxSpec>,
): void {
  describe('own kernel', () => {
    let driver: RuntimeDriver
    let spec: SandboxSpec
    let handle: SandboxHandle
    let screen = ''
    const run = async (script: string): Promise<string> => {
      const limits = { timeoutMs: 30_000, outputLimitBytes: 65_536 }
      const argv = ['/bin/bash', '-c', script]
      const { stdout, stderr } = await driver.exec(handle, { ...asUser, ...limits, argv })
      return `${stdout}${stderr}`
    }
    const openTerminal = async (...argv: string[]): Promise<OpenProcess> => {
      screen = ''
      const opened = await driver.openProcess(handle, { ...asUser, argv, pty: { cols: 80, rows: 24 } })
      opened.stdout?.on('data', (chunk: Buffer) => {
        screen += chunk
      })
      return opened
    }
    const shows = (text: string | RegExp) => expect.poll(() => screen, patiently).toMatch(text)

    beforeAll(async () => {
      driver = makeDriver()
      const prepare = { script: 'echo "127.0.1.1 $HOSTNAME" >>/etc/hosts', env: {} }
      spec = { ...(await makeSpec()), prepare, inMemory: { path: '/run/dock', gid: 1000 } }
      handle = await driver.start(spec)
    })
    afterAll(async () => {
      if (handle) await driver.destroy(handle)
    })

    test('sudo is the package of the distribution, by either path', async () => {
      expect(await run('sudo -n id -u; /usr/bin/sudo -n id -u')).toBe('0\n0\n')
      expect(await run('sudo --version | head -n 1')).toMatch(/^Sudo version 1\./)
      expect(await run('ps -eo comm= | grep -c s6- || true')).toBe('0\n')
    })

    test('sudo runs as other users, and keeps of the environment what it should', async () => {
      expect(await run('sudo -u nobody id -un; sudo -u "#1000" id -un')).toBe('nobody\nuser\n')
      expect(await run('sudo sh -c \'echo "$HOME $USER $SUDO_USER [$PROOF]"\'')).toBe('/root root user []\n')
      expect(await run('sudo -E sh -c \'echo "$PROOF"\'; sudo A=b sh -c \'echo "$A"\'')).toBe('kept\nb\n')
      expect(await run('http_proxy=there sudo sh -c \'echo "$http_proxy"; pwd; umask\'')).toBe(
        'there\n/tmp\n0022\n',
      )
      expect(await run('sudo -i pwd; sudo sh -c "exit 7"; echo $?; echo in | sudo cat')).toBe(
        '/root\n7\nin\n',
      )
    })

    test('sudo gives root a terminal with job control', async () => {
      const opened = await openTerminal('sudo', 'bash', '--norc', '-i')
      await shows(/# $/)
      opened.stdin?.write('tty; sleep 4321\r')
      await expect.poll(() => run('pgrep -cx -f "sleep 4321"'), patiently).toBe('1\n')
      opened.stdin?.write('\x1a')
      await shows(/Stopped +sleep 4321/)
      opened.stdin?.write('jobs\r')
      await shows(/Stopped.*Stopped +sleep 4321/s)
      opened.stdin?.write('fg\r')
      await expect.poll(() => run('ps -o stat= -C sleep'), patiently).toMatch(/^S/)
      opened.stdin?.write('\x03')
      await expect.poll(() => run('pgrep -cx -f "sleep 4321"; true'), patiently).toBe('0\n')
      opened.stdin?.write('read -rp "name? " name </dev/tty; echo "got:$name"\r')
      await shows(/name\? $/)
      opened.stdin?.write('somebody\r')
      await shows('got:somebody')
      opened.stdin?.write('exit 6\r')
      expect(await opened.exited).toEqual({ exitCode: 6, signal: null })
    })

    test('sudo is stopped and continued by the shell of the user', async () => {
      const opened = await openTerminal('/bin/bash', '--norc', '-i')
      opened.stdin?.write('sudo sleep 4322\r')
      await expect.poll(() => run('pgrep -cx -f "sleep 4322"'), patiently).toBe('1\n')
      opened.stdin?.write('\x1a')
      await shows(/Stopped +sudo sleep 4322/)
      opened.stdin?.write('fg\r')
      await expect.poll(() => run('ps -o stat= -C sleep'), patiently).toMatch(/^S/)
      opened.stdin?.write('\x03')
      await shows(/\^C.*\$ $/s)
      opened.stdin?.write('echo "co"de $?\r')
      await shows('code 130')
      opened.stdin?.write('exit\r')
      await opened.exited
    })

    test('the kernel loads modules that are asked for, also if the disk has no program for it', async () => {
      const devices =
        'sudo ip link add probe type dummy && sudo ip link add v0 type veth peer name v1 && echo added'
      expect(await run(`sudo modprobe -n -v overlay | grep -c "$(uname -r)"; ${devices}`)).toBe('1\nadded\n')
      await run('sudo rm /usr/sbin/modprobe /usr/bin/kmod')
      const overlay =
        'mkdir l u w m && sudo mount -t overlay -o lowerdir=l,upperdir=u,workdir=w none m && echo mounted'
      expect(await run(`cd "$(mktemp -d)" && ${overlay}`)).toBe('mounted\n')
    })

    test('users have FUSE, tunnels, namespaces and measurements of their own', async () => {
      expect(await run('exec 3<>/dev/fuse && echo open; unshare -Urn id -u')).toBe('open\n0\n')
      expect(await run('sudo ip tuntap add t0 mode tun user user && ip -br link show t0 | cut -c1-2')).toBe(
        't0\n',
      )
      expect(await run('cat /proc/sys/kernel/perf_event_paranoid')).toBe('1\n')
      expect(await run('cat /sys/fs/cgroup/cgroup.controllers')).toMatch(/^cpuset cpu io memory .*pids/)
    })

    // A disk of an older image has no such package, and neither has one that was made from a tarball.
    test('without the package, sudo is the service of the image', async () => {
      await run('sudo rm /usr/lib/dock/real-sudo')
      await driver.destroy(handle)
      handle = await driver.start({ ...spec, ...(await makeSpec()), disk: spec.disk })
      expect(await run('sudo -n id -u; sudo -u nobody id -un; sudo sh -c "exit 7"; echo $?')).toBe(
        '0\nnobody\n7\n',
      )
    })
  })
}
