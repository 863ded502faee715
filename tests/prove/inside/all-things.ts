/** What people expect of a machine, for the table in docs/what-runs-in-a-dock.md. */
import { fivePackages, fiveThings } from './five-things.ts'
import { python, type Thing } from './thing.ts'

/** Packages of the image in which they are tried. */
export const allPackages = [
  ...fivePackages,
  ...['attr', 'chromium', 'default-jre-headless', 'gdb', 'libcap2-bin', 'nftables', 'nodejs', 'podman'],
  ...['postgresql', 'ripgrep', 'strace', 'systemd', 'wireguard-tools'],
]

const page = "'data:text/html,<script>document.write(6*7)</script>'"
const chromium = (flags: string): string =>
  `timeout 200 chromium --headless --disable-gpu ${flags} --dump-dom ${page} 2>err | grep -q 42 || { tail -n 3 err >&2; exit 1; }`

const languages: Thing[] = [
  { name: 'Python', script: "python3 -c 'import asyncio; asyncio.run(asyncio.sleep(0))'" },
  {
    name: 'Node',
    needs: ['node'],
    script:
      'node -e \'const {Worker}=require("worker_threads");new Worker("process.exit(3)",{eval:true}).on("exit",c=>process.exit(c-3))\'',
  },
  { name: 'the JVM', needs: ['java'], script: 'java -version 2>&1 && java -XshowSettings:system -version' },
  { name: 'programs in Go (`docker`)', needs: ['docker'], script: 'docker --version' },
  { name: 'programs in Rust (`ripgrep`)', needs: ['rg'], script: 'rg -q root /etc/passwd' },
]

const servers: Thing[] = [
  {
    name: 'PostgreSQL',
    needs: ['pg_ctlcluster'],
    script: `version=$(ls /etc/postgresql | head -n 1)
sudo pg_ctlcluster "$version" main start || { sudo tail -n 3 /var/log/postgresql/*.log >&2; exit 1; }
[[ $(cd / && sudo -u postgres psql -Atc 'select 6 * 7') == 42 ]] && sudo pg_ctlcluster "$version" main stop`,
  },
  {
    name: 'Chromium, as Playwright starts it (`--no-sandbox`)',
    needs: ['chromium'],
    script: chromium('--no-sandbox'),
  },
  { name: 'Chromium with its own sandbox', needs: ['chromium'], script: chromium('') },
  {
    name: '`sudo podman run` of an image made from a tarball',
    needs: ['podman'],
    script: `mkdir -p tiny/bin && cp /bin/bash-static tiny/bin/sh && tar -C tiny -c . | sudo podman import - tiny
[[ $(sudo podman --cgroup-manager=cgroupfs run --rm --network none tiny /bin/sh -c 'echo "$$"') == 1 ]]`,
  },
  {
    name: 'systemd as process 1, services of packages by `systemctl`',
    needs: ['systemctl'],
    script: '[[ $(systemctl is-system-running) =~ running|degraded ]]',
  },
]

const users: Thing[] = [
  {
    name: '`sudo`, also below `sudo`',
    script: '[[ $(sudo sudo -u nobody id -un; sudo sudo id -u) == *nobody*0 ]]',
  },
  {
    name: 'setuid programs',
    script: 'sudo install -o root -m 4755 /usr/bin/id /usr/local/bin/own-id && [[ $(own-id -u) == 0 ]]',
  },
  {
    name: '`setcap`',
    needs: ['/usr/sbin/setcap'],
    script: `cp /usr/bin/python3 own-python && sudo setcap cap_net_raw+ep own-python
./own-python -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)'`,
  },
  { name: '`ping`', script: 'ping -c 1 -W 5 127.0.0.1' },
  {
    name: 'raw sockets with `sudo`',
    script: python('socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)', 'sudo '),
  },
  {
    name: 'packet sockets with `sudo`, as `tcpdump` needs',
    script: python('socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))', 'sudo '),
  },
  { name: 'user namespaces of the user', script: '[[ $(unshare -Urmpf --mount-proc id -u) == 0 ]]' },
  {
    name: '`chroot`',
    script: 'mkdir -p root/bin && cp /bin/bash-static root/bin/sh && sudo chroot root /bin/sh -c "exit 0"',
  },
]

const debuggers: Thing[] = [
  {
    name: '`gdb`',
    needs: ['gdb'],
    script: "gdb -batch -ex starti -ex 'info registers rip' /bin/true 2>&1 | grep -E '^rip'",
  },
  {
    name: '`strace`',
    needs: ['strace'],
    script: "strace -f -o trace sh -c 'true; true' && grep -q execve trace",
  },
  {
    name: 'eBPF with `sudo`',
    script: python(
      'call(321, 0, ctypes.create_string_buffer(struct.pack("IIIII", 2, 4, 8, 1, 0) + bytes(100)), 72)',
      'sudo ',
    ),
  },
]

const filesystems: Thing[] = [
  {
    name: '`mount` of tmpfs and bind mounts',
    script: 'mkdir a b && sudo mount -t tmpfs none a && sudo mount --bind a b && sudo umount b a',
  },
  {
    name: 'loop devices',
    script: `truncate -s 32M image && device=$(sudo losetup --find --show image) && echo hi | sudo tee "$device"
sync && [[ $(head -c 2 image) == hi ]] && sudo losetup --detach "$device"`,
  },
  {
    name: 'overlay mounts with `sudo`',
    script: `mkdir l u w m && touch l/gone && sudo mount -t overlay -o lowerdir=l,upperdir=u,workdir=w none m
sudo rm m/gone && [[ ! -e m/gone && -e l/gone ]] && sudo umount m`,
  },
  {
    name: 'overlay mounts in a user namespace',
    script:
      'mkdir l u w m && touch l/gone && unshare -Urm sh -c "mount -t overlay -o lowerdir=l,upperdir=u,workdir=w none m && rm m/gone"',
  },
  {
    name: 'inotify',
    script: python(`
watch = libc.inotify_init1(os.O_NONBLOCK)
assert libc.inotify_add_watch(watch, b'.', 0x100) > 0
open('made', 'w').close()
assert select.select([watch], [], [], 5)[0] and b'made' in os.read(watch, 4096)`),
  },
  {
    name: 'files over 4 GiB',
    script: 'fallocate -l 4500M big && [[ $(stat -c %s big) == 4718592000 ]]; code=$?; rm -f big; exit $code',
  },
  {
    name: 'sparse files, whose true size `du` shows',
    script:
      'truncate -s 100G sparse && echo x | dd of=sparse bs=1 seek=50G conv=notrunc status=none && du -k sparse && [[ $(du -k sparse | cut -f1) -lt 1000 ]]',
  },
  {
    name: 'extended attributes of the user',
    needs: ['setfattr'],
    script: 'touch f && setfattr -n user.a -v b f && getfattr -n user.a f | grep -q b',
  },
  { name: '`flock`', script: 'exec 3>lock && flock 3 && ! flock -n lock true' },
]

const memory: Thing[] = [
  {
    name: 'shared memory by `mmap`',
    script: python(`
shared = mmap.mmap(-1, 4096)
if os.fork() == 0:
    shared[0:2] = b'hi'
    os._exit(0)
os.wait()
assert shared[0:2] == b'hi'`),
  },
  {
    name: 'POSIX shared memory',
    script:
      "python3 -c 'from multiprocessing import shared_memory as s; m = s.SharedMemory(create=True, size=9); m.close(); m.unlink()'",
  },
  {
    name: 'huge pages',
    script: `sudo sysctl -qw vm.nr_hugepages=4 && ${python('mmap.mmap(-1, 2 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40000)[0] = 1')}`,
  },
  {
    name: 'memfd, with seals',
    script: python("fd = os.memfd_create('m', os.MFD_ALLOW_SEALING); fcntl.fcntl(fd, 1033, 2)"),
  },
]

const calls: Thing[] = [
  {
    name: 'pidfd',
    script: python(
      'fd = os.pidfd_open(os.getpid()); signal = __import__("signal"); signal.pidfd_send_signal(fd, 0)',
    ),
  },
  {
    name: 'epoll, eventfd',
    script: python('e = select.epoll(); fd = os.eventfd(1); e.register(fd); assert e.poll(5)'),
  },
  {
    name: 'timerfd, signalfd',
    script: python(`
fd = libc.timerfd_create(1, 0)
assert fd >= 0
libc.timerfd_settime(fd, 0, struct.pack('qqqq', 0, 0, 0, 1000000), 0)
os.read(fd, 8)
assert libc.signalfd(-1, bytes(128), 0) >= 0`),
  },
  { name: 'io_uring', script: python('call(425, 8, ctypes.create_string_buffer(120))') },
  {
    name: 'seccomp filters',
    script: python(`
code = struct.pack('HBBI', 0x20, 0, 0, 0) + struct.pack('HBBI', 0x15, 0, 1, 79) + struct.pack('HBBI', 6, 0, 0, 0x50007) + struct.pack('HBBI', 6, 0, 0, 0x7fff0000)
code = ctypes.create_string_buffer(code)
libc.prctl(38, 1, 0, 0, 0)
assert libc.prctl(22, 2, ctypes.create_string_buffer(struct.pack('HxxxxxxQ', 4, ctypes.addressof(code))), 0, 0) == 0
try:
    os.getcwd()
except OSError as error:
    sys.exit(error.errno - 7)
sys.exit('nothing was filtered')`),
  },
  { name: 'Landlock', script: python('assert call(444, None, 0, 1) >= 1') },
  {
    name: 'CPU affinity',
    script: python('os.sched_setaffinity(0, {0}); assert os.sched_getaffinity(0) == {0}'),
  },
]

const kernel: Thing[] = [
  {
    name: 'control groups of version 2',
    script: `sudo mkdir -p /sys/fs/cgroup/proof/inner && echo 100M | sudo tee /sys/fs/cgroup/proof/memory.max
[[ $(cat /sys/fs/cgroup/proof/memory.max) == 104857600 ]] && echo $$ | sudo tee /sys/fs/cgroup/proof/inner/cgroup.procs`,
  },
  {
    name: 'nftables',
    needs: ['/usr/sbin/nft'],
    script:
      "sudo nft add table inet proof && sudo nft 'add chain inet proof in { type filter hook input priority 0; }' && sudo nft list table inet proof",
  },
  {
    name: 'network namespaces, veth, bridges',
    script:
      'sudo ip netns add proof && sudo ip link add pv0 type veth peer name pv1 netns proof && sudo ip link add pb0 type bridge && sudo ip link set pv0 master pb0',
  },
  {
    name: 'tun and tap devices',
    script: 'sudo ip tuntap add proof0 mode tun user user && ip link show proof0',
  },
  {
    name: 'WireGuard in the kernel',
    needs: ['wg'],
    script: 'sudo ip link add wg0 type wireguard && sudo wg show wg0',
  },
  { name: 'KVM', script: '[[ -c /dev/kvm ]] && sudo sh -c "exec 3<>/dev/kvm"' },
  { name: 'kernel modules', script: 'sudo modprobe dummy && lsmod | grep -q dummy' },
]

export const allThings: readonly Thing[] = [
  ...fiveThings,
  ...languages,
  ...servers,
  ...users,
  ...debuggers,
  ...filesystems,
  ...memory,
  ...calls,
  ...kernel,
]
