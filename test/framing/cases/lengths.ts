import type { FramingCase } from '../framing-case.ts'
import { chunks, form, hiddenRequest, inChunks, length, tokenRequest } from '../requests.ts'

const refused = [[400]] as const
const right = [[200]] as const
const lengths = (...lines: string[]) => ({ lengths: lines })

/** Contradictory or malformed message lengths: RFC 9112 sections 6.1 to 6.3 and 11.2. */
export const lengthCases: readonly FramingCase[] = [
  { name: 'a length', send: [tokenRequest()], responses: right },
  { name: 'chunks', send: [tokenRequest({ ...lengths(inChunks), body: chunks(form) })], responses: right },
  {
    name: 'chunks of one byte',
    send: [tokenRequest({ ...lengths(inChunks), body: chunks(...form) })],
    responses: right,
  },
  {
    name: 'CHUNKED',
    send: [tokenRequest({ ...lengths('transfer-encoding: CHUNKED'), body: chunks(form) })],
    responses: right,
  },
  {
    name: 'a length with spaces around it',
    send: [tokenRequest(lengths(`Content-Length:   ${form.length}  `))],
    responses: right,
  },
  {
    name: 'a length with leading zeros',
    send: [tokenRequest(lengths(length(`000${form.length}`)))],
    responses: [[200], [400]],
  },
  { name: 'no length and no body', send: [tokenRequest({ ...lengths(), body: '' })], responses: [[400], [411]] },
  // Without a length, there is no body: the bytes are parsed as the next request, which is malformed.
  { name: 'no length and a body', send: [tokenRequest(lengths())], responses: [[400], [411], [400, 400]] },
  // RFC 9112 section 6.3: a server accepts several equal lengths as one, or responds with 400.
  {
    name: 'two equal lengths',
    send: [tokenRequest(lengths(length(form.length), length(form.length)))],
    responses: [[200], [400]],
  },
  {
    name: 'equal lengths in one line',
    send: [tokenRequest(lengths(length(`${form.length}, ${form.length}`)))],
    responses: [[200], [400]],
  },
  { name: 'two different lengths', send: [tokenRequest(lengths(length(form.length), length(0)))], responses: refused },
  {
    name: 'different lengths in one line',
    send: [tokenRequest(lengths(length(`${form.length}, 0`)))],
    responses: refused,
  },
  {
    name: 'two lengths that differ by a hidden request',
    send: [
      tokenRequest({
        ...lengths(length(form.length), length(form.length + hiddenRequest.length)),
        body: form + hiddenRequest,
      }),
    ],
    responses: refused,
  },
  {
    name: 'a length with a space in the header name',
    send: [tokenRequest(lengths(`Content-Length : ${form.length}`))],
    responses: refused,
  },
  {
    name: 'a length with a NUL in the header name',
    send: [tokenRequest(lengths(`Content-Length\u0000: ${form.length}`))],
    responses: refused,
  },
  // RFC 9112 section 6.3: chunks override the length, or the server responds with 400. Then the connection closes.
  {
    name: 'a length and chunks',
    send: [tokenRequest({ ...lengths(length(form.length), inChunks), body: chunks(form) })],
    responses: [[200], [400]],
  },
  {
    name: 'chunks and a length',
    send: [tokenRequest({ ...lengths(inChunks, length(form.length)), body: chunks(form) })],
    responses: [[200], [400]],
  },
  {
    name: 'chunks and a length that ends inside a hidden request',
    send: [tokenRequest({ ...lengths(inChunks, length(5)), body: `0\r\n\r\n${hiddenRequest}`, keep: true })],
    responses: [[400]],
  },
  {
    name: 'a length and chunks, followed by a hidden request',
    send: [tokenRequest({ ...lengths(length(form.length), inChunks), body: chunks(form) + hiddenRequest, keep: true })],
    responses: [[200], [400]],
  },
  {
    name: 'chunked, identity',
    send: [tokenRequest({ ...lengths('Transfer-Encoding: chunked, identity'), body: chunks(form) })],
    responses: [[400], [501]],
  },
  {
    name: 'identity, chunked',
    send: [tokenRequest({ ...lengths('Transfer-Encoding: identity, chunked'), body: chunks(form) })],
    responses: [[200], [400], [501]],
  },
  {
    name: 'identity',
    send: [tokenRequest({ ...lengths('Transfer-Encoding: identity', length(form.length)) })],
    responses: [[400], [501]],
  },
  { name: 'gzip', send: [tokenRequest(lengths('Transfer-Encoding: gzip'))], responses: [[400], [501]] },
  {
    name: 'gzip, chunked',
    send: [tokenRequest({ ...lengths('Transfer-Encoding: gzip, chunked'), body: chunks(form) })],
    responses: [[200], [400], [501]],
  },
  {
    name: 'chunked, gzip',
    send: [tokenRequest({ ...lengths('Transfer-Encoding: chunked, gzip'), body: chunks(form) })],
    responses: [[400], [501]],
  },
  {
    name: 'chunked, chunked',
    send: [tokenRequest({ ...lengths('Transfer-Encoding: chunked, chunked'), body: chunks(form) })],
    responses: [[400], [501]],
  },
  {
    name: 'two lines of chunked',
    send: [tokenRequest({ ...lengths(inChunks, inChunks), body: chunks(form) })],
    responses: [[400], [501]],
  },
  {
    name: 'xchunked',
    send: [tokenRequest({ ...lengths('Transfer-Encoding: xchunked'), body: chunks(form) })],
    responses: [[400], [501]],
  },
  {
    name: 'xchunked and a length',
    send: [tokenRequest(lengths('Transfer-Encoding: xchunked', length(form.length)))],
    responses: [[400], [501]],
  },
  {
    name: 'chunked in quotes',
    send: [tokenRequest({ ...lengths('Transfer-Encoding: "chunked"'), body: chunks(form) })],
    responses: [[400], [501]],
  },
  {
    name: 'chunked after a vertical tab',
    send: [tokenRequest({ ...lengths('Transfer-Encoding: \u000bchunked'), body: chunks(form) })],
    responses: [[400], [501]],
  },
  {
    name: 'an empty transfer encoding and a length',
    send: [tokenRequest(lengths('Transfer-Encoding:', length(form.length)))],
    responses: [[200], [400], [501]],
  },
  // RFC 9112 section 6.1: HTTP/1.0 has no chunks, so the framing is faulty.
  {
    name: 'chunks in HTTP/1.0',
    send: [tokenRequest({ ...lengths(inChunks), body: chunks(form), version: 'HTTP/1.0' })],
    responses: [[200], [400]],
  },
  ...['-1', '+40', '0x28', '0b1', '4 0', '40;', '40,', '4e1', '40.0', 'NaN', '\u0664\u0660', '"40"', '1_0'].map(
    (text): FramingCase => ({
      name: `the length ${JSON.stringify(text)}`,
      send: [Buffer.from(tokenRequest(lengths(length(text))), 'utf8')],
      responses: refused,
    }),
  ),
  // An empty length is invalid too; some parsers read it as zero.
  { name: 'an empty length', send: [tokenRequest(lengths('Content-Length:'))], responses: [[400], [400, 400]] },
  ...['99999999999999999999999', '18446744073709551616', '9223372036854775808', '-9223372036854775808'].map(
    (text): FramingCase => ({
      name: `the length ${text}`,
      send: [tokenRequest(lengths(length(text)))],
      responses: [[400], [413]],
    }),
  ),
  {
    name: 'a length of zero, followed by a request',
    send: [tokenRequest({ ...lengths(length(0)), body: hiddenRequest, keep: true, as: ['web', 'wrong'] })],
    responses: [[401, 200]],
    hiddenTokens: 1,
  },
  { name: 'a request in the body of another', send: [tokenRequest({ body: hiddenRequest })], responses: [[400]] },
  { name: 'a body after a length of zero', send: [tokenRequest(lengths(length(0)))], responses: [[400], [400, 400]] },
]
