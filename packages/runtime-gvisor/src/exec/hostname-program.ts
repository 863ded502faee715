/**
 * The program that sets the host name of a sandbox. It is not a file of the sandbox's disk: a tenant may have replaced
 * every file there, and the program that sets the name needs a capability that no process of a tenant may have. The
 * driver gives the sandbox a descriptor of this program instead.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, openSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const loadAddress = 0x400000
const headerBytes = 64
const segmentBytes = 56
const executable = 2
const loaded = 1
const readAndExecute = 5

/** Machine number of ELF, and the code: `exit(errno of sethostname(argv[1], strlen(argv[1])))`. */
const programs: Record<string, { machine: number; code: string }> = {
  x64: {
    machine: 62,
    // mov rdi,[rsp+16]; xor esi,esi; 1: cmp byte [rdi+rsi],0; je 2f; inc rsi; jmp 1b
    // 2: mov eax,170; syscall; mov edi,eax; neg edi; mov eax,60; syscall
    code: '488b7c2410 31f6 803c3700 7405 48ffc6 ebf5 b8aa000000 0f05 89c7 f7df b83c000000 0f05',
  },
  arm64: {
    machine: 183,
    // ldr x0,[sp,16]; mov x1,0; 1: ldrb w2,[x0,x1]; cbz w2,2f; add x1,x1,1; b 1b
    // 2: mov x8,161; svc 0; neg w0,w0; mov x8,93; svc 0
    code: 'e00b40f9 010080d2 02686138 62000034 21040091 fdffff17 281480d2 010000d4 e003004b a80b80d2 010000d4',
  },
}

/** Returns the statically linked program. Throws on a machine for which there is none. */
export function hostnameProgram(arch: string = process.arch): Buffer {
  const program = programs[arch]
  if (!program) throw new Error(`no program sets the host name of a sandbox on ${arch}`)
  const code = Buffer.from(program.code.replaceAll(' ', ''), 'hex')
  const before = headerBytes + segmentBytes
  const file = Buffer.concat([Buffer.alloc(before), code])
  file.write('\x7fELF\x02\x01\x01', 'latin1')
  file.writeUInt16LE(executable, 16)
  file.writeUInt16LE(program.machine, 18)
  file.writeUInt32LE(1, 20)
  file.writeBigUInt64LE(BigInt(loadAddress + before), 24)
  file.writeBigUInt64LE(BigInt(headerBytes), 32)
  file.writeUInt16LE(headerBytes, 52)
  file.writeUInt16LE(segmentBytes, 54)
  file.writeUInt16LE(1, 56)
  file.writeUInt32LE(loaded, headerBytes)
  file.writeUInt32LE(readAndExecute, headerBytes + 4)
  file.writeBigUInt64LE(BigInt(loadAddress), headerBytes + 16)
  file.writeBigUInt64LE(BigInt(loadAddress), headerBytes + 24)
  file.writeBigUInt64LE(BigInt(file.length), headerBytes + 32)
  file.writeBigUInt64LE(BigInt(file.length), headerBytes + 40)
  file.writeBigUInt64LE(0x1000n, headerBytes + 48)
  return file
}

/** Opens the program. It is a file in this folder, because a sandbox runs only regular files. The caller closes it. */
export function openHostnameProgram(folder: string): number {
  const program = hostnameProgram()
  const path = join(folder, `hostname-${createHash('sha256').update(program).digest('hex').slice(0, 8)}`)
  try {
    return openSync(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(`${path}.new`, program, { mode: 0o500 })
  renameSync(`${path}.new`, path)
  return openSync(path, 'r')
}
