/**
 * A program in a Run's Dock that opens connections to its door without end, sends parts of requests, and leaves. It prints
 * the statuses. Arguments: a seed, the repository, and a commit in it.
 */

export const doorProgram = `
import random, re, socket, struct, sys, threading, time
seed, repository, commit = int(sys.argv[1]), sys.argv[2], sys.argv[3].encode()
for line in open('/proc/net/route'):
  cells = line.split()
  if cells[1] == '00000000': gateway = socket.inet_ntoa(struct.pack('<I', int(cells[2], 16)))
place = (gateway, 9419)
def plain(method, path, body=b'', **headers):
  lines = ['%s %s HTTP/1.1' % (method, path), 'Host: door'] + ['%s: %s' % (k.replace('_', '-'), v) for k, v in headers.items()]
  return ('\\r\\n'.join(lines) + '\\r\\n\\r\\n').encode(), body
def sized(method, path, body, **headers): return plain(method, path, body, Content_Length=len(body), **headers)
def line(text): return b'%04x' % (len(text) + 4) + text
base = '/github/' + repository + '.git'
def choose(r):
  kind = r.randrange(9)
  if kind == 0: return plain('GET', base + '/info/refs?service=git-upload-pack')
  if kind == 1: return plain('GET', base + '/info/refs?service=git-receive-pack')
  if kind == 2:
    want = line(b'want ' + commit + b' ofs-delta no-progress\\n') + b'0000' + line(b'done\\n')
    return sized('POST', base + '/git-upload-pack', want, Content_Type='application/x-git-upload-pack-request')
  if kind == 3:
    push = line(b'0' * 40 + b' ' + commit + b' refs/heads/dock/x\\0report-status') + b'0000PACK' + bytes(r.randrange(300000))
    return sized('POST', base + '/git-receive-pack', push, Content_Type='application/x-git-receive-pack-request')
  if kind in (4, 5):
    text = '{"model":"gpt-5","stream":%s,"max_completion_tokens":10,"messages":["%s"]}' % (r.choice(['true', 'false']), 'x' * r.choice([10, 300000]))
    return sized('POST', '/model/openai/v1/chat/completions', text.encode(), Content_Type='application/json')
  if kind == 6: return plain('GET', '/model/openai/v1/models')
  if kind == 7: return sized('POST', '/report', b'done so far')
  return bytes(r.randrange(256) for _ in range(r.randrange(300))), b''
def attempt(r):
  head, body = choose(r)
  both = head + body
  peer = socket.socket()
  # The door waits long for the rest of a head.
  peer.settimeout(20 if body or head.startswith((b'GET', b'POST')) else 0.5)
  ending = r.randrange(10)
  if ending < 3: both = both[:r.randrange(len(both) + 1)]
  try:
    peer.connect(place)
    peer.sendall(both)
    if ending == 3:
      peer.shutdown(socket.SHUT_WR)
      peer.settimeout(1)
    heard = b''
    if ending < 3: time.sleep(r.choice([0, 0, 0.002, 0.05]))
    else:
      most = r.choice([1, 100, 5000, 200000, 1 << 30])
      size = 0
      while size < most:
        piece = peer.recv(min(65536, most - size))
        if not piece: break
        if size == 0: heard = piece
        size += len(piece)
      if r.randrange(4) == 0: time.sleep(r.random() / 5)
  except OSError as error: return '-'
  finally:
    if r.randrange(3): peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    peer.close()
  found = re.match(rb'HTTP/1.1 (\\d+)', heard)
  return found.group(1).decode() if found else '-'
def work(name):
  r = random.Random(seed * 97 + name)
  while True:
    print('door', attempt(r), flush=True)
    # A Dock may open five connections in a second.
    time.sleep(0.5)
threads = [threading.Thread(target=work, args=(each,)) for each in range(3)]
for each in threads: each.start()
for each in threads: each.join()
`
