/** One response, delimited as in RFC 9112 section 6.3. */
export interface RawResponse {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
  readonly framing: 'none' | 'content-length' | 'chunked' | 'close'
}

function headersOf(lines: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>()
  for (const line of lines) {
    const [, name, value] = /^([!#$%&'*+\-.^_`|~\w]+):[ \t]*(.*?)[ \t]*$/u.exec(line) ?? []
    if (name === undefined || value === undefined) throw new Error(`not a header line: ${JSON.stringify(line)}`)
    const key = name.toLowerCase()
    const earlier = headers.get(key)
    headers.set(key, earlier === undefined ? value : `${earlier}, ${value}`)
  }
  return headers
}

interface Body {
  readonly body: string
  readonly rest: string
  readonly framing: RawResponse['framing']
}

function chunked(text: string): Body {
  let body = ''
  let rest = text
  for (;;) {
    const [line, size = ''] = /^([0-9a-f]+)\r\n/iu.exec(rest) ?? []
    if (line === undefined) throw new Error(`not a chunk: ${JSON.stringify(rest.slice(0, 40))}`)
    const length = Number.parseInt(size, 16)
    body += rest.slice(line.length, line.length + length)
    if (rest.slice(line.length + length, line.length + length + 2) !== '\r\n')
      throw new Error('the chunk is not terminated')
    rest = rest.slice(line.length + length + 2)
    if (length === 0) return { body, rest, framing: 'chunked' }
  }
}

function bodyOf(status: number, headers: ReadonlyMap<string, string>, text: string, isHead: boolean): Body {
  if (isHead || status < 200 || status === 204 || status === 304) return { body: '', rest: text, framing: 'none' }
  if (headers.get('transfer-encoding') === 'chunked') return chunked(text)
  const length = headers.get('content-length')
  if (length === undefined) return { body: text, rest: '', framing: 'close' }
  if (!/^\d+$/u.test(length) || text.length < Number(length)) throw new Error(`shorter than ${length}: ${text}`)
  return { body: text.slice(0, Number(length)), rest: text.slice(Number(length)), framing: 'content-length' }
}

/**
 * Parses all responses that a server sent.
 *
 * @param methods the methods of the requests, in order; default: none is HEAD
 * @throws Error when the bytes are not complete responses.
 */
export function readResponses(text: string, methods: readonly string[] = []): readonly RawResponse[] {
  const responses: RawResponse[] = []
  let rest = text
  let final = 0
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n')
    const [start = '', ...lines] = rest.slice(0, Math.max(0, end)).split('\r\n')
    const [, code] = /^HTTP\/1\.[01] (\d{3})(?: [\t -~]*)?$/u.exec(start) ?? []
    if (end < 0 || code === undefined) throw new Error(`not a response: ${JSON.stringify(rest.slice(0, 80))}`)
    const status = Number(code)
    const headers = headersOf(lines)
    const { body, rest: following, framing } = bodyOf(status, headers, rest.slice(end + 4), methods[final] === 'HEAD')
    if (status >= 200) final += 1
    responses.push({ status, headers, body, framing })
    rest = following
  }
  return responses
}
