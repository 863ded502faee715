/** Bytes to send; a stream is sent as it is read. */
export type RawBody = Uint8Array<ArrayBuffer> | Blob | ReadableStream<Uint8Array> | string

/** The bytes of a response. */
export type RawResponse = Uint8Array<ArrayBuffer>

export type Abortable = {
  /** Ends the call. What it has begun in the service goes on. */
  signal?: AbortSignal | undefined
}

/** Default: your first organization. */
export type OfOrganization = Abortable & { organizationId?: string | undefined }

/** What goes with any call. */
export type RequestOptions = Abortable & { headers?: Readonly<Record<string, string>> }
