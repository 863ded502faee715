/** A program in a Dock behind a hosted port: it sends much, slowly, in part or nothing, echoes bodies, and upgrades. */

export const hostedPort = 8000

export const hostedProgram = `
import base64, hashlib, socket, struct, sys, threading, time
def head(kind, *more): return ('HTTP/1.1 ' + kind + '\\r\\n' + ''.join(each + '\\r\\n' for each in more) + '\\r\\n').encode()
def reset(peer):
  peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
def body(file, headers):
  left = int(headers.get('content-length', '0'))
  if headers.get('transfer-encoding') != 'chunked':
    while left > 0:
      piece = file.read1(min(left, 65536))
      if not piece: return
      left -= len(piece)
      yield piece
    return
  while True:
    size = int(file.readline().split(b';')[0] or b'0', 16)
    piece = file.read(size)
    file.readline()
    if size == 0: return
    yield piece
def serve(peer):
  with peer, peer.makefile('rb') as file:
    while True:
      words = file.readline().decode('latin1').split(' ')
      if len(words) < 3: return
      headers = {}
      while True:
        line = file.readline().decode('latin1').strip()
        if not line: break
        name, _, value = line.partition(':')
        headers[name.lower()] = value.strip()
      method, parts = words[0], words[1].split('/')
      what, size = parts[1], int(parts[2]) if len(parts) > 2 else 0
      isHead = method == 'HEAD'
      if headers.get('upgrade') and what != 'refuse':
        key = headers.get('sec-websocket-key', '') + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
        accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
        peer.sendall(head('101 Switching', 'upgrade: websocket', 'connection: Upgrade', 'sec-websocket-accept: ' + accept))
        if what == 'reset': return reset(peer)
        if what == 'bytes': peer.sendall(b'\\x82\\x05hello' * size)
        while True:
          piece = file.read1(65536)
          if not piece: return
          peer.sendall(piece)
      if what == 'bytes':
        peer.sendall(head('200 OK', 'content-length: %d' % size))
        for at in range(0, 0 if isHead else size, 65536): peer.sendall(b'x' * min(65536, size - at))
      elif what == 'chunks':
        peer.sendall(head('200 OK', 'transfer-encoding: chunked'))
        for _ in range(0 if isHead else size):
          peer.sendall(b'1000\\r\\n' + b'y' * 4096 + b'\\r\\n')
        if not isHead: peer.sendall(b'0\\r\\n\\r\\n')
      elif what == 'slow':
        peer.sendall(head('200 OK', 'content-length: %d' % size))
        for _ in range(0 if isHead else size):
          peer.sendall(b'z')
          time.sleep(0.02)
      elif what == 'echo':
        peer.sendall(head('200 OK', 'connection: close'))
        for piece in body(file, headers): peer.sendall(piece)
        return
      elif what == 'early':
        peer.sendall(head('200 OK', 'content-length: 2') + b'ok')
        return
      elif what == 'part':
        peer.sendall(head('200 OK', 'content-length: %d' % (size + 9)) + b'x' * size)
        return reset(peer)
      elif what == 'broken':
        peer.sendall(head('200 OK', 'transfer-encoding: chunked') + b'zz\\r\\n')
        return
      elif what == 'nothing': return reset(peer)
      else:
        for piece in body(file, headers): pass
        peer.sendall(head('200 OK', 'content-length: 5') + (b'' if isHead else b'hello'))
def safely(peer):
  try: serve(peer)
  except Exception: pass
door = socket.create_server(('0.0.0.0', ${hostedPort}), backlog=256)
while True:
  threading.Thread(target=safely, args=(door.accept()[0],), daemon=True).start()
`
