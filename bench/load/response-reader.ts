/** One response of a server. */
export interface ReceivedResponse {
  readonly status: number
  /** Where a redirect leads. */
  readonly location?: string | undefined
  readonly body: string
}

const contentLength = /\r\ncontent-length: *(\d+)/iu
const redirect = /\r\nlocation: *([^\r]+)/iu
const chunked = /\r\ntransfer-encoding: *chunked/iu

/** Joins the chunks of a body; `undefined` while it is incomplete. */
function joinChunks(text: string, start: number): { readonly body: string; readonly end: number } | undefined {
  let body = ''
  let at = start
  for (;;) {
    const line = text.indexOf('\r\n', at)
    if (line < 0) return undefined
    const size = Number.parseInt(text.slice(at, line), 16)
    const next = line + 2 + size + 2
    if (!(size >= 0)) throw new Error(`Invalid chunk size: ${text.slice(at, line)}`)
    if (text.length < next) return undefined
    if (size === 0) return { body, end: next }
    body += text.slice(line + 2, line + 2 + size)
    at = next
  }
}

/**
 * Parses the responses on a connection with one request in flight at a time. Bodies must be ASCII.
 *
 * @throws Error when the data is not HTTP/1.1, has no framing, or exceeds one response.
 */
export function createResponseReader(): (text: string) => ReceivedResponse | undefined {
  let pending = ''
  return (text) => {
    pending = pending === '' ? text : pending + text
    const headEnd = pending.indexOf('\r\n\r\n')
    if (headEnd < 0) return undefined
    if (!pending.startsWith('HTTP/1.1 ')) throw new Error(`Not HTTP/1.1: ${pending.slice(0, 100)}`)
    const head = pending.slice(0, headEnd)
    const start = headEnd + 4
    const length = contentLength.exec(head)?.[1]
    let body: string
    let end: number
    if (length !== undefined) {
      end = start + Number(length)
      if (pending.length < end) return undefined
      body = pending.slice(start, end)
    } else if (chunked.test(head)) {
      const joined = joinChunks(pending, start)
      if (joined === undefined) return undefined
      body = joined.body
      end = joined.end
    } else {
      throw new Error(`Response without framing: ${head}`)
    }
    if (pending.length > end) throw new Error(`More than one response: ${pending.slice(end, end + 100)}`)
    const status = Number(pending.slice(9, 12))
    pending = ''
    return { status, body, location: status >= 300 ? redirect.exec(head)?.[1] : undefined }
  }
}
