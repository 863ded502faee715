/** What only a kernel of its own gives a Dock: `script/prove microvm inside` demands each of them. */
import { python, type Thing } from './thing.ts'

/** Packages of the image in which they are tried. */
export const fivePackages = ['docker.io', 'docker-cli', 'bubblewrap', 'bindfs', 'linux-perf']

const startDocker = `sudo sh -c 'setsid dockerd >/tmp/dockerd.log 2>&1 &'
for second in {1..150}; do sudo docker info >/dev/null 2>&1 && break; sleep 1; pgrep -x dockerd >/dev/null || break; done
sudo docker info 2>&1 | grep -E 'ERROR|Storage Driver|Cgroup Version' || { tail -n 5 /tmp/dockerd.log >&2; exit 1; }`

export const fiveThings: readonly Thing[] = [
  {
    name: '`sudo` with job control',
    script: python(`
import pty, time
child, terminal = pty.fork()
if child == 0:
    os.execvp('sudo', ['sudo', '-n', 'bash', '--norc', '-i'])
seen = b''
def until(text):
    global seen
    end = time.time() + 60
    while text not in seen:
        if time.time() > end or not select.select([terminal], [], [], 60)[0]:
            sys.exit('no %r in %r' % (text, seen))
        seen += os.read(terminal, 4096)
    seen = seen[seen.index(text) + len(text):]
def type(text):
    os.write(terminal, text)
until(b'# ')
type(b'sleep 4711; echo "af"ter\\n')
until(b'4711')
while os.system('pgrep -x -f "sleep 4711" >/dev/null'):
    time.sleep(0.1)
type(b'\\x1a')
until(b'Stopped')
until(b'# ')
type(b'fg; echo "we"nt $(id -u)\\n')
until(b'sleep 4711')
while b'T' in os.popen('ps -o stat= -C sleep').read().encode():
    time.sleep(0.1)
type(b'\\x03')
until(b'# ')
type(b'echo "us"er $(id -u)\\n')
until(b'user 0')`),
  },
  {
    name: '`docker run` of an image made from a tarball',
    needs: ['docker', '/usr/sbin/dockerd'],
    script: `${startDocker}
mkdir -p tiny/bin && cp /bin/bash-static tiny/bin/sh
tar -C tiny -c . | sudo docker import - tiny
python3 -m http.server 4811 --bind 0.0.0.0 >/dev/null 2>&1 &
address=$(ip -4 -o address show docker0 | grep -o '[0-9.]*/' | head -n 1)
said=$(sudo docker run --rm --memory 64m --cpus 0.5 tiny /bin/sh -c 'echo "process $$"
exec 3<>/dev/tcp/'"\${address%/}"'/4811 && echo "GET / HTTP/1.0
" >&3 && read -r line <&3 && echo "$line"')
echo "$said"
[[ $said == *'process 1'*'200 OK'* ]]`,
  },
  {
    name: '`bwrap --unshare-all`',
    needs: ['bwrap'],
    script:
      '[[ $(bwrap --ro-bind / / --dev /dev --proc /proc --unshare-all bash -c \'echo "$$ $(id -u)"\') == *" 1000" ]]',
  },
  {
    name: 'a FUSE filesystem, mounted by the user',
    needs: ['bindfs', 'fusermount3'],
    script: `mkdir from to && echo content >from/file && bindfs --no-allow-other from to
findmnt -nt fuse to && [[ $(cat to/file) == content ]] && echo more >to/new && [[ $(cat from/new) == more ]] && fusermount3 -u to`,
  },
  {
    name: '`perf stat -e task-clock`',
    needs: ['perf'],
    script: "perf stat -e task-clock true 2>&1 | grep -E '[0-9.]+ msec task-clock'",
  },
]
