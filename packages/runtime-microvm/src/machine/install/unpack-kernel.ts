/** Unpacks the ELF kernel from a bzImage. QEMU's microvm machine starts only that form of a kernel, by its PVH entry. */
import { zstdDecompressSync } from 'node:zlib'

/** Offsets in the header of a bzImage (Documentation/arch/x86/boot.rst in the kernel). */
const setupSectorsAt = 0x1f1
const magicAt = 0x202
const payloadOffsetAt = 0x248
const payloadLengthAt = 0x24c
const sectorBytes = 512
const zstdMagic = 0xfd2fb528
const vmlinuxBytesMax = 512 * 2 ** 20

/** Throws if the file is not a kernel that is compressed with zstd, as Debian's are since 6.12. */
export function unpackKernel(bzImage: Buffer): Buffer {
  if (bzImage.toString('latin1', magicAt, magicAt + 4) !== 'HdrS') throw new Error('the kernel is no bzImage')
  const setupBytes = (1 + (bzImage[setupSectorsAt] || 4)) * sectorBytes
  const start = setupBytes + bzImage.readUInt32LE(payloadOffsetAt)
  // The payload ends with the size of the unpacked kernel.
  const payload = bzImage.subarray(start, start + bzImage.readUInt32LE(payloadLengthAt) - 4)
  if (payload.length < 4 || payload.readUInt32LE(0) !== zstdMagic)
    throw new Error('the kernel is not compressed with zstd')
  const kernel = zstdDecompressSync(payload, { maxOutputLength: vmlinuxBytesMax })
  if (kernel.toString('latin1', 0, 4) !== '\x7fELF') throw new Error('the kernel contains no ELF file')
  return kernel
}
