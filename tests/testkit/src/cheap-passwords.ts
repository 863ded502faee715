/**
 * Set up before the test files of the control plane: makes the hashing of passwords cheap in their process. A real hash
 * takes a twentieth of a second, and hundreds of people of tests get one. The servers of end-to-end tests hash in earnest.
 */
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

type Scrypt = typeof crypto.scrypt

const isCheap = Symbol.for('dock.cheap-passwords')

// Files that share modules share the process, in which the function is replaced once.
if (!Reflect.has(crypto.scrypt, isCheap)) {
  const { scrypt } = crypto
  const cheap = ((...[password, salt, bytes, options, done]: Parameters<Scrypt>) =>
    scrypt(password, salt, bytes, { ...options, N: 2 }, done)) as Scrypt
  crypto.scrypt = Object.assign(cheap, { [isCheap]: true })
  syncBuiltinESMExports()
}
