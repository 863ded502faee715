/** Something that may work in a Dock. */
export type Thing = {
  name: string
  /** Bash that ends with 0 if it works. It runs as the user of the Dock, in an empty folder. */
  script: string
  /** Programs without which it is not tried. */
  needs?: readonly string[]
}

/** Runs a Python program as the user, or with `sudo`. */
export function python(program: string, as: '' | 'sudo ' = ''): string {
  return `${as}python3 - <<'END'
import ctypes, fcntl, mmap, os, select, socket, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    result = libc.syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
${program}
END`
}
