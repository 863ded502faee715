/** Errors of the programs in Docks, as the caller sees them. */
import { constants } from 'node:os'
import { type ErrorCode, ServiceError } from '@dock/contract'

const { errno } = constants

const full = "The Dock's disk is full. Delete files, or use a Dock with a larger disk."

/** What is wrong, by error number and what it is about (`path`, `parent`, …); a number alone stands for all. */
const failures = new Map<string, [ErrorCode, string]>(
  Object.entries({
    [`${errno.ENOENT} parent`]: ['not_found', 'The folder above this path does not exist. Make it first.'],
    [`${errno.ENOENT}`]: ['not_found', 'There is no such path in the Dock.'],
    [`${errno.ENOTDIR} path`]: ['conflict', 'This path, or one above it, is not a folder.'],
    [`${errno.ENOTDIR}`]: ['conflict', 'A part of the path is not a folder.'],
    [`${errno.EISDIR} read`]: [
      'not_a_regular_file',
      'This path is a folder. List it with …/files/list, or read it as tar with the header Accept: application/x-tar.',
    ],
    [`${errno.EISDIR}`]: ['conflict', 'The target is a folder.'],
    [`${errno.EEXIST}`]: ['conflict', 'Something with this name exists already.'],
    [`${errno.ENOTEMPTY}`]: [
      'conflict',
      'The folder is not empty. To delete all it contains, add recursive=true.',
    ],
    [`${errno.EACCES}`]: ['conflict', "The Dock's user has no permission for this path."],
    [`${errno.EPERM}`]: ['conflict', "The Dock's user has no permission for this path."],
    [`${errno.EROFS}`]: ['conflict', 'The path is on a read-only filesystem.'],
    [`${errno.ENOSPC}`]: ['conflict', full],
    [`${errno.EDQUOT}`]: ['conflict', full],
    [`${errno.EFBIG}`]: ['file_too_large', 'The filesystem takes no file of this size.'],
    [`${errno.ENAMETOOLONG}`]: [
      'validation_error',
      'path: a part of it is longer than the filesystem allows',
    ],
    [`${errno.ELOOP}`]: ['conflict', 'The path has too many symbolic links.'],
    [`${errno.EINVAL}`]: ['conflict', 'The filesystem refuses this. A folder cannot be moved into itself.'],
    [`${errno.EBUSY}`]: ['conflict', 'The path is in use, or a filesystem is mounted there.'],
    [`${errno.ENOSYS} watch`]: ['exec_unavailable', 'This Dock cannot watch folders.'],
    [`${errno.E2BIG} watch`]: ['conflict', 'There are too many folders to watch. Watch fewer.'],
    [`${errno.EMFILE} watch`]: ['conflict', 'The Dock has no more watches. End one and try again.'],
    '0 special': ['not_a_regular_file', 'This path is a pipe, socket or device.'],
    '0 archive': ['validation_error', 'The body is not a tar that can be unpacked.'],
    '0 copy': ['conflict', 'Not everything could be copied to the other filesystem. Nothing was moved.'],
    '0 delete': ['conflict', 'Not everything in the folder could be deleted.'],
    '0 merge': ['conflict', 'The archive does not fit what is in the folder.'],
  }),
)

/** True if a program wrote that the disk is full. tar says only that a write was short if part of it fitted. */
const isFull = (diagnostics: string): boolean =>
  /No space left on device|Disk quota exceeded|Wrote only \d+ of \d+ bytes/.test(diagnostics)

/**
 * Returns the error for an answer `error ERRNO WORD`. `diagnostics` is what programs wrote to stderr. It comes from the
 * Dock, so no text of it is passed on.
 */
export function fileFailure(words: readonly string[], diagnostics: string): ServiceError {
  const [, number = '', about = ''] = words
  const key = number === '0' && isFull(diagnostics) ? `${errno.ENOSPC}` : `${number} ${about}`
  const [code, message] = failures.get(key) ??
    failures.get(number) ?? ['conflict', `The Dock refused this (error ${Number(number)}).`]
  return new ServiceError(code, { message, detail: diagnostics })
}

/** Returns the error for a program that ended without an answer, or whose answer makes no sense. */
export function brokenProgram(detail: string): ServiceError {
  return new ServiceError('exec_unavailable', {
    message:
      'The program in the Dock that handles files did not answer as it should. It needs /usr/bin/perl, tar and coreutils, as in the image.',
    detail,
  })
}
