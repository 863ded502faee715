/** Replaces the interpreter of the file programs in the Dock with a program that writes damaged lines, or lines without end. */

const program = `#!/usr/bin/python3
import os, random, sys, time
r = random.Random(int.from_bytes(os.urandom(8), 'big'))
lines = [b'entry file 10 0644 1700000000 61 -', b'entry link 4 0777 1700000000 6c 74', b'entry folder 4096 0755 0 2f -',
  b'file 10 1700000000 7 33188', b'tar', b'done', b'end 0 -', b'end 1 61', b'error 2 path', b'error 0 archive',
  b'watching 3', b'created 0 61', b'moved 1 61 62', b'alive', b'ended time', b'']
words = [b'-1', b'0', b'99999999999999999999', b'1e9', b'NaN', b'zz', b'6', b'-', b'..', b'\\xff\\xfe', b'61' * 5000, b'', b'file', b'entry', b'error']
out = os.fdopen(1, 'wb', 0)
def line():
  parts = r.choice(lines).split(b' ')
  for _ in range(r.randrange(3)): parts[r.randrange(len(parts))] = r.choice(words)
  return b' '.join(parts)
try:
  kind = r.randrange(10)
  if kind == 0:
    while True: out.write(b'y' * 65536)
  if kind == 1: out.write(os.urandom(r.randrange(200000)))
  if kind == 2: os.kill(os.getpid(), 9)
  if kind == 3: os.close(0); time.sleep(1)
  for _ in range(r.randrange(6)): out.write(line() + r.choice([b'\\n', b'\\n', b'\\n', b'', b'\\r\\n', b'\\0\\n']))
  if r.randrange(3) == 0: out.write(os.urandom(r.randrange(100)))
  if r.randrange(3) == 0: sys.stderr.write('No space left on device' * r.randrange(9000))
except OSError: pass
os._exit(r.choice([0, 0, 0, 1, 2, 255]))
`

/** A command that puts it in place, and one that puts the true one back. */
export const putLyingPerl = `sudo cp -n /usr/bin/perl /usr/bin/perl.own
cat >/tmp/lying-perl <<'END'
${program}END
sudo install -m 755 /tmp/lying-perl /usr/bin/perl.lying && sudo mv /usr/bin/perl.lying /usr/bin/perl`
export const putOwnPerl = 'sudo mv /usr/bin/perl.own /usr/bin/perl'
