import { useEffect, useMemo, useState } from 'react'
import { Empty } from '../../components/empty.tsx'
import { SourceText } from '../../components/source-text.tsx'
import { formatBytes } from '../../lib/format.ts'
import { visibleLines } from '../../lib/visible-text.ts'
import { imageBytesMax, previewKindOf, textBytesMax } from './preview-kind.ts'

/** The beginning of a file, and for an image the whole of it. */
export type PreviewedFile = { size: number; bytes: Uint8Array<ArrayBuffer> }

/** Reads what a preview shows: the beginning of the file, or the whole of an image. */
export async function readPreview<Start extends PreviewedFile>(
  read: (bytesMax: number) => Promise<Start>,
): Promise<Start> {
  const start = await read(textBytesMax)
  const isCutImage = start.bytes.length < start.size && previewKindOf(start.bytes, false).kind === 'image'
  return isCutImage && start.size <= imageBytesMax ? read(imageBytesMax) : start
}

function Image({ bytes, type, name }: { bytes: Uint8Array<ArrayBuffer>; type: string; name: string }) {
  const [url, setUrl] = useState<string>()
  const [isBroken, setBroken] = useState(false)
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([bytes], { type }))
    setUrl(made)
    setBroken(false)
    return () => URL.revokeObjectURL(made)
  }, [bytes, type])
  if (isBroken) return <Empty title="Not an image" text="Its first bytes say so, but it cannot be shown." />
  return (
    <div className="grid place-items-center overflow-auto rounded-lg border border-line bg-raised p-4">
      {url && (
        <img
          src={url}
          alt={name}
          onError={() => setBroken(true)}
          className="max-h-[70vh] max-w-full object-contain"
        />
      )}
    </div>
  )
}

/** Shows text as source, and images of types that run no script. */
export function FilePreview({ file, name }: { file: PreviewedFile; name: string }) {
  const { bytes, size } = file
  const shown = useMemo(() => previewKindOf(bytes, bytes.length >= size), [bytes, size])
  const text = useMemo(() => (shown.kind === 'text' ? visibleLines(shown.text) : ''), [shown])
  if (shown.kind === 'image')
    return bytes.length >= size ? (
      <Image bytes={bytes} type={shown.type} name={name} />
    ) : (
      <Empty
        title="This image is too large to show"
        text={`It has ${formatBytes(size)}. Download it to see it.`}
      />
    )
  if (shown.kind === 'binary')
    return (
      <Empty title="This file is not text" text={`It has ${formatBytes(size)}. Download it to use it.`} />
    )
  if (size === 0) return <Empty title="This file is empty" text="It has no bytes." />
  return (
    <div className="grid gap-2">
      {bytes.length < size && (
        <p className="m-0 text-sm text-wait">
          These are the first {formatBytes(bytes.length)} of {formatBytes(size)}. Download the file for all of
          it.
        </p>
      )}
      <SourceText label="Contents" text={text} />
    </div>
  )
}
